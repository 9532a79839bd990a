# What Bash and the programs around it make of texts: lines of name, number of the text, and result in hexadecimal digits.
export LC_ALL=C.UTF-8
number=0

told() {
    local name=$1 made
    made=$(od -An -v -tx1 | tr -d ' \n')
    printf '%s\t%s\t%s\n' "$name" "$number" "$made"
}

while read -r line; do
    S=$(sed 's/../\\x&/g' <<<"$line")
    printf -v S "$S"
    export S
    printf %q "$S" | told "printf %q"
    LC_ALL=C bash -c 'printf %q "$S"' | told "printf %q in C"
    declare -p S | told "declare -p"
    echo "${S@Q}" | told "@Q"
    bash -xc ': "$S"' 2>&1 | told "set -x"
    bash -c 'set -- "$S"; set' | grep -a '^S=' | told "set"
    printf %s "$S$S$S" | base64 -w 20 | told "base64 in lines"
    printf %s "$S$S$S" | base64 -w 20 | sed 's/^/    /' | told "base64 indented"
    printf %s "$S" | base32 | told "base32"
    if type jq >/dev/null 2>&1; then
        for format in json uri html sh base64; do
            jq -rn "env.S | @$format" | told "jq @$format"
        done
        jq -n '{a: [env.S]}' | told "jq"
        jq -an '{a: [env.S]} | tojson' | told "jq tojson"
    fi
    if type openssl >/dev/null 2>&1; then
        printf %s "$S$S$S" | openssl base64 | told "openssl base64"
    fi
    if type xxd >/dev/null 2>&1; then
        printf %s "$S" | xxd -p | told "xxd -p"
    fi
    number=$((number + 1))
done
