# SPDX-License-Identifier: MIT
# Completion of hyprof in fish; hyprof itself knows the words: see cli/manual/completion.c

function __hyprof_complete
    set -l current (commandline -ct)
    set -l words (commandline -opc)
    for line in ($words[1] __complete $words[2..-1] $current 2>/dev/null)
        switch $line
            case ':file' ':trace'
                __fish_complete_path (string replace -r '^--[^=]*=' '' -- $current)
            case ':folder'
                __fish_complete_directories (string replace -r '^--[^=]*=' '' -- $current)
            case ':program'
                __fish_complete_command
            case ':rest *'
                __fish_complete_subcommand --commandline $words[(math (string replace ':rest ' '' -- $line) + 1)..-1] $current
            case '*'
                echo $line
        end
    end
end

complete -c hyprof -f -a '(__hyprof_complete)'
