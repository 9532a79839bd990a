# Sourced. An operation may leave what it likes where its outputs are looked for; nothing here waits for a named pipe,
# follows a link, or reads a file for as long as it grows.

ordito_most=67108865 # bytes, one more than is accepted

# ordito_look_at FILE: sets ordito_why to why it is no file that can be read, in words that follow its name; to nothing
# where it is one, or is not there.
ordito_look_at() {
    ordito_why=
    if [ -L "$1" ]; then
        ordito_why='is a link'
    elif [ -f "$1" ]; then
        [ -r "$1" ] || ordito_why='cannot be read: Permission denied'
    elif [ -d "$1" ]; then
        ordito_why='is a folder'
    elif [ -p "$1" ]; then
        ordito_why='is a FIFO (named pipe)'
    elif [ -S "$1" ]; then
        ordito_why='is a socket'
    elif [ -e "$1" ]; then
        ordito_why='is a device'
    fi
}
