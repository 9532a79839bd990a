# An operation that tells of itself: by the program that a test has named.
echo "$ORDITO_STEP" >>"$HOME/log"
bash "$HOME/tell"
