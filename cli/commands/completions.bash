# Completions of sig for bash.
_sig() {
  local line kind="" words=("${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  # Bash gives words as they are typed, with their quotes.
  words=("${words[@]#[\"\']}")
  words=("${words[@]%[\"\']}")
  words=("${words[@]//\\/}")
  while IFS= read -r line; do
    case "$line" in
      :*) kind="$line" ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <(sig __complete -- "${words[@]}" 2> /dev/null)
  # Readline itself completes files, so that their names are quoted as bash needs
  # them. compopt exists since bash 4.
  case "$kind" in
    :files) compopt -o default 2> /dev/null ;;
    :folders) compopt -o dirnames 2> /dev/null ;;
    # Readline quotes the blanks of names as if they were files.
    *) [[ "${COMPREPLY[*]}" != "${COMPREPLY[*]// /}" ]] &&
      compopt -o filenames 2> /dev/null ;;
  esac
}
complete -F _sig sig
