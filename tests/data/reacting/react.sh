echo "$ORDITO_STEP" >>"$HOME/log"
if [ -p "$HOME/reacting" ]; then echo >"$HOME/reacting"; read -r _ <"$HOME/release"; fi
[ ! -e "$HOME/failing" ] || exit 3
reacted="${level:-} "
