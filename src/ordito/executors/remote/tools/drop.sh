# sh drop.sh TOOLS SLOT IDENTITY: forgets how an operation ended that was ended from outside, and removes its copies, in
# case the shell beside it could not do so any more.

ordito_slot=$2
: >"$ordito_slot/stopped-$3"
. "$1/undo.sh"
ordito_undo
