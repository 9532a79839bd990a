echo "$INSTANCE" >>"$HOME/reactions"
