# Completion of eos for bash: every answer comes from `eos complete`, which knows the estate's recipes and components.

_eos() {
    # Bash splits words at = and : as well; here they are put together again as they stand before the cursor.
    local rest=${COMP_LINE:0:COMP_POINT} words=() word= part= piece=
    for part in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ $rest == [[:space:]]* ]]; then
            words+=("$word")
            word=
            rest=${rest#"${rest%%[![:space:]]*}"}
        fi
        piece=${rest:0:${#part}}
        word+=$piece
        rest=${rest:${#part}}
    done
    # Readline replaces only what follows the last = or :.
    local kept=${word%"$piece"}
    if [[ $piece == [=:] ]]; then
        kept=$word
    fi

    local kind= candidate= help= quoted=
    COMPREPLY=()
    {
        read -r kind
        while IFS=$'\t' read -r candidate help; do
            if [[ $candidate == "$word"* ]]; then
                printf -v quoted %q "${candidate#"$kept"}"
                COMPREPLY+=("$quoted")
            fi
        done
    } < <(eos complete -- "${words[@]}" "$word" 2>/dev/null)
    case $kind in
        files) compopt -o default ;;
        directories) compopt -o dirnames ;;
    esac
}

complete -F _eos eos
