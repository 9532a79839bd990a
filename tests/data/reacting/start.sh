level=0
echo "$ORDITO_STEP" >>"$HOME/log"
if [ -p "$HOME/starting" ]; then echo >"$HOME/starting"; read -r _ <"$HOME/release"; fi
