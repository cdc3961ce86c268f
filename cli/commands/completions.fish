# Completions of sig for fish.
function __sig_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    # Of --flag=value the value alone is a file.
    set -l start (string match -r -- '^--[^=]*=' $word)
    set -l rest (string replace -r -- '^--[^=]*=' '' $word)
    for line in (sig __complete -- $words[2..-1] "$word" 2> /dev/null)
        switch $line
            case ':files'
                printf "$start%s\n" (__fish_complete_path "$rest")
            case ':folders'
                printf "$start%s\n" (__fish_complete_directories "$rest")
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c sig -f -a '(__sig_complete)'
