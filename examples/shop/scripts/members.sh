# shellcheck shell=bash
# How the balancer's list of members is written; it is sourced by the scripts that change it. The file has a line for
# each member, its id and its address. It is replaced as a whole, so that the balancer never reads half of it.

members=${DIRECTORY:?}/${SOURCE_INSTANCE:?}/members

# Writes the list again from the given ids of instances. One that has no address has not been started yet: it is left
# out, and its own add_target follows.
write_members() {
    local id address
    for id in "$@"; do
        address=${id}_MEMBER_URL
        [ -z "${!address:-}" ] || echo "$id ${!address}"
    done >"$members.new"
    mv "$members.new" "$members"
}
