echo "$ORDITO_STEP" >>"$HOME/log"
if [ -p "$HOME/stopping" ]; then echo >"$HOME/stopping"; read -r _ <"$HOME/release"; fi
