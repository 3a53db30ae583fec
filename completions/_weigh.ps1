
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'weigh' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'weigh'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'weigh' {
            [CompletionResult]::new('--files0-from', '--files0-from', [CompletionResultType]::ParameterName, 'Weigh also the PATHs in FILE, each with a NUL after it; - is standard input')
            [CompletionResult]::new('--files-from', '--files-from', [CompletionResultType]::ParameterName, 'Weigh also the PATHs in FILE, one a line')
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'Show the newest time in a directory, and its size: a (accessed), c (changed) or m (modified)')
            [CompletionResult]::new('--filetime', '--filetime', [CompletionResultType]::ParameterName, 'Show the newest time in a directory, and its size: a (accessed), c (changed) or m (modified)')
            [CompletionResult]::new('-X', '-X ', [CompletionResultType]::ParameterName, 'Leave out what has this name or path')
            [CompletionResult]::new('--ignore-directory', '--ignore-directory', [CompletionResultType]::ParameterName, 'Leave out what has this name or path')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Weigh only what has a path that matches, as in -e ''\.png$''')
            [CompletionResult]::new('--filter', '--filter', [CompletionResultType]::ParameterName, 'Weigh only what has a path that matches, as in -e ''\.png$''')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Leave out what has a path that matches')
            [CompletionResult]::new('--invert-filter', '--invert-filter', [CompletionResultType]::ParameterName, 'Leave out what has a path that matches')
            [CompletionResult]::new('-I', '-I ', [CompletionResultType]::ParameterName, 'Leave out what has a path that matches a line of FILE, each a REGEX')
            [CompletionResult]::new('--ignore-all-in-file', '--ignore-all-in-file', [CompletionResultType]::ParameterName, 'Leave out what has a path that matches a line of FILE, each a REGEX')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'Leave out what matches, as in .gitignore')
            [CompletionResult]::new('--include', '--include', [CompletionResultType]::ParameterName, 'Weigh only what matches, likewise')
            [CompletionResult]::new('--ignore-file', '--ignore-file', [CompletionResultType]::ParameterName, 'Leave out what matches FILE, in the syntax of .gitignore')
            [CompletionResult]::new('--type', '--type', [CompletionResultType]::ParameterName, 'Weigh only files of this type, as --type-list has it')
            [CompletionResult]::new('--type-not', '--type-not', [CompletionResultType]::ParameterName, 'Leave out files of this type')
            [CompletionResult]::new('-M', '-M ', [CompletionResultType]::ParameterName, 'Weigh only what was written to DAYS ago; +DAYS: earlier, -DAYS: since')
            [CompletionResult]::new('--mtime', '--mtime', [CompletionResultType]::ParameterName, 'Weigh only what was written to DAYS ago; +DAYS: earlier, -DAYS: since')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Weigh only what was read DAYS ago')
            [CompletionResult]::new('--atime', '--atime', [CompletionResultType]::ParameterName, 'Weigh only what was read DAYS ago')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Weigh only what was changed DAYS ago, be it in name, owner or mode')
            [CompletionResult]::new('--ctime', '--ctime', [CompletionResultType]::ParameterName, 'Weigh only what was changed DAYS ago, be it in name, owner or mode')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show the NUMBER largest [default: what fits]')
            [CompletionResult]::new('--number-of-lines', '--number-of-lines', [CompletionResultType]::ParameterName, 'Show the NUMBER largest [default: what fits]')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Show DEPTH levels below each PATH')
            [CompletionResult]::new('--depth', '--depth', [CompletionResultType]::ParameterName, 'Show DEPTH levels below each PATH')
            [CompletionResult]::new('-z', '-z', [CompletionResultType]::ParameterName, 'Show only what has SIZE or more, as in 512, 10k, 10KiB, 10kB, 1.5G')
            [CompletionResult]::new('--min-size', '--min-size', [CompletionResultType]::ParameterName, 'Show only what has SIZE or more, as in 512, 10k, 10KiB, 10kB, 1.5G')
            [CompletionResult]::new('--by', '--by', [CompletionResultType]::ParameterName, 'Show totals by group')
            [CompletionResult]::new('--collapse', '--collapse', [CompletionResultType]::ParameterName, 'Show a directory of this name, or this path, without what is in it')
            [CompletionResult]::new('--sort', '--sort', [CompletionResultType]::ParameterName, 'Order what lies side by side')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Save everything in FILE too, compressed if it ends in .zst or .gz; -: print that instead')
            [CompletionResult]::new('--load', '--load', [CompletionResultType]::ParameterName, 'Show what is saved in FILE instead of weighing PATH; - is standard input')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Show what changed since FILE was saved, the largest changes first')
            [CompletionResult]::new('--fail-over', '--fail-over', [CompletionResultType]::ParameterName, 'End with status 3 if it comes to more than SIZE')
            [CompletionResult]::new('--fail-growth', '--fail-growth', [CompletionResultType]::ParameterName, 'End with status 3 if it grew by more than SIZE, as in 500M or 20%')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Print it for other programs; everything, as with -j')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write sizes by powers of 1000 (si), or all in one unit')
            [CompletionResult]::new('--output-format', '--output-format', [CompletionResultType]::ParameterName, 'Write sizes by powers of 1000 (si), or all in one unit')
            [CompletionResult]::new('--time-style', '--time-style', [CompletionResultType]::ParameterName, 'Write times as full-iso, long-iso, iso, relative, or +FORMAT')
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'Draw for a terminal of WIDTH columns')
            [CompletionResult]::new('--terminal-width', '--terminal-width', [CompletionResultType]::ParameterName, 'Draw for a terminal of WIDTH columns')
            [CompletionResult]::new('-T', '-T ', [CompletionResultType]::ParameterName, 'Walk on NUMBER threads [default: as many as the storage keeps busy]')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Walk on NUMBER threads [default: as many as the storage keeps busy]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Read settings from FILE in place of the config file')
            [CompletionResult]::new('--completions', '--completions', [CompletionResultType]::ParameterName, 'Print the completions for a shell')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Weigh file lengths instead of allocated blocks')
            [CompletionResult]::new('--apparent-size', '--apparent-size', [CompletionResultType]::ParameterName, 'Weigh file lengths instead of allocated blocks')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Count regular files instead of bytes')
            [CompletionResult]::new('--filecount', '--filecount', [CompletionResultType]::ParameterName, 'Count regular files instead of bytes')
            [CompletionResult]::new('--inodes', '--inodes', [CompletionResultType]::ParameterName, 'Count inodes of every kind instead of bytes')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Count every hard link each time')
            [CompletionResult]::new('--count-links', '--count-links', [CompletionResultType]::ParameterName, 'Count every hard link each time')
            [CompletionResult]::new('--unique', '--unique', [CompletionResultType]::ParameterName, 'Weigh only what deleting would give back: not what has links elsewhere')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'Follow symlinks; every directory is still entered once')
            [CompletionResult]::new('--dereference-links', '--dereference-links', [CompletionResultType]::ParameterName, 'Follow symlinks; every directory is still entered once')
            [CompletionResult]::new('-x', '-x', [CompletionResultType]::ParameterName, 'Stay on the file system of each PATH')
            [CompletionResult]::new('--limit-filesystem', '--limit-filesystem', [CompletionResultType]::ParameterName, 'Stay on the file system of each PATH')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'Leave out names that begin with a dot')
            [CompletionResult]::new('--ignore-hidden', '--ignore-hidden', [CompletionResultType]::ParameterName, 'Leave out names that begin with a dot')
            [CompletionResult]::new('--gitignore', '--gitignore', [CompletionResultType]::ParameterName, 'Leave out what git ignores, and what .ignore files say')
            [CompletionResult]::new('--ignored', '--ignored', [CompletionResultType]::ParameterName, 'Weigh only what git ignores: what a clean would give back')
            [CompletionResult]::new('--type-list', '--type-list', [CompletionResultType]::ParameterName, 'List the types of files, and the globs that make them')
            [CompletionResult]::new('-D', '-D ', [CompletionResultType]::ParameterName, 'Show only directories')
            [CompletionResult]::new('--only-dir', '--only-dir', [CompletionResultType]::ParameterName, 'Show only directories')
            [CompletionResult]::new('-F', '-F ', [CompletionResultType]::ParameterName, 'Show only files, as a list: the largest ones')
            [CompletionResult]::new('--only-file', '--only-file', [CompletionResultType]::ParameterName, 'Show only files, as a list: the largest ones')
            [CompletionResult]::new('-t', '-t', [CompletionResultType]::ParameterName, 'Show totals by file extension (--by type)')
            [CompletionResult]::new('--file-types', '--file-types', [CompletionResultType]::ParameterName, 'Show totals by file extension (--by type)')
            [CompletionResult]::new('--skip-total', '--skip-total', [CompletionResultType]::ParameterName, 'Do not show the root''s line')
            [CompletionResult]::new('--details', '--details', [CompletionResultType]::ParameterName, 'Save inode, owner and time of last change of everything too')
            [CompletionResult]::new('-j', '-j', [CompletionResultType]::ParameterName, 'Print JSON, of everything unless limited')
            [CompletionResult]::new('--output-json', '--output-json', [CompletionResultType]::ParameterName, 'Print JSON, of everything unless limited')
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'Show paths instead of names')
            [CompletionResult]::new('--full-paths', '--full-paths', [CompletionResultType]::ParameterName, 'Show paths instead of names')
            [CompletionResult]::new('-r', '-r', [CompletionResultType]::ParameterName, 'Print the root first and the largest on top')
            [CompletionResult]::new('--reverse', '--reverse', [CompletionResultType]::ParameterName, 'Print the root first and the largest on top')
            [CompletionResult]::new('-b', '-b', [CompletionResultType]::ParameterName, 'Print no bars and no percentages')
            [CompletionResult]::new('--no-percent-bars', '--no-percent-bars', [CompletionResultType]::ParameterName, 'Print no bars and no percentages')
            [CompletionResult]::new('-B', '-B ', [CompletionResultType]::ParameterName, 'Draw the bars from the right')
            [CompletionResult]::new('--bars-on-right', '--bars-on-right', [CompletionResultType]::ParameterName, 'Draw the bars from the right')
            [CompletionResult]::new('--dim', '--dim', [CompletionResultType]::ParameterName, 'Draw the bars in grey, where there are colours')
            [CompletionResult]::new('-R', '-R ', [CompletionResultType]::ParameterName, 'Print words in columns, for screen readers')
            [CompletionResult]::new('--screen-reader', '--screen-reader', [CompletionResultType]::ParameterName, 'Print words in columns, for screen readers')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Print no colours')
            [CompletionResult]::new('--no-colors', '--no-colors', [CompletionResultType]::ParameterName, 'Print no colours')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Print colours, terminal or not')
            [CompletionResult]::new('--force-colors', '--force-colors', [CompletionResultType]::ParameterName, 'Print colours, terminal or not')
            [CompletionResult]::new('-P', '-P ', [CompletionResultType]::ParameterName, 'Show no progress')
            [CompletionResult]::new('--no-progress', '--no-progress', [CompletionResultType]::ParameterName, 'Show no progress')
            [CompletionResult]::new('--print-errors', '--print-errors', [CompletionResultType]::ParameterName, 'Print a line for everything that could not be read')
            [CompletionResult]::new('--stats', '--stats', [CompletionResultType]::ParameterName, 'Say what the walk did, on stderr: threads, time, system calls')
            [CompletionResult]::new('--man', '--man', [CompletionResultType]::ParameterName, 'Print the man page')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print the flags that are used most; --help: all of them')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print the flags that are used most; --help: all of them')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
