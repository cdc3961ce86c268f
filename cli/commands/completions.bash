# Completions of sig for bash.
_sig() {
  local line kind=""
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :*) kind="$line" ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <(sig __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  # Readline itself completes files, so that their names are quoted as bash needs
  # them. compopt exists since bash 4.
  case "$kind" in
    :files) compopt -o default 2> /dev/null ;;
    :folders) compopt -o dirnames 2> /dev/null ;;
  esac
}
complete -F _sig sig
