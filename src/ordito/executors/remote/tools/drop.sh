# sh drop.sh TOOLS SLOT: forgets how an operation ended that was ended from outside, and removes its copies.

ordito_slot=$2
. "$1/undo.sh"
ordito_undo
rm -f "$ordito_slot/end" "$ordito_slot/result" "$ordito_slot/outputs.json"
echo void >"$ordito_slot/begin"
