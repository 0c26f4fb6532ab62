# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_rocescope_global_optspecs
    string join \n config= h/help V/version
end

function __fish_rocescope_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_rocescope_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_rocescope_using_subcommand
    set -l cmd (__fish_rocescope_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c rocescope -n "__fish_rocescope_needs_command" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_needs_command" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_needs_command" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "capture" -d 'Read a capture file or interfaces: top flows, opcode mix, and a Parquet dataset'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "completions" -d 'Print a script that completes commands and options in a shell'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "collect" -d 'Take the rows of agents over the network into one dataset, and say what fails'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "config" -d 'Print, check or make a configuration file'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "connections" -d 'Print what each queue pair did: loss, order, latency, congestion'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "demo" -d 'Show the whole path at work, without privileges or input'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "diagnose" -d 'Find what fails, and where, in what a dataset holds'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "doctor" -d 'Say what stands in the way of a capture on this machine, and what mends it'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "extract" -d 'Write the frames of a capture file that a filter wants into another'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "generate" -d 'Write deterministic RoCEv2 traffic from a scenario, with its truth beside it'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "man" -d 'Write the manual pages'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "merge" -d 'Join the datasets of several boxes, window by window'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "probe" -d 'Probe between the NICs of this host: loss and latency one way, and the paths'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "repair" -d 'Seal what a killed capture left in a dataset, and name what does not read'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "report" -d 'Sum a dataset up: for people, for programs, or as one HTML page with charts'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "schema" -d 'Print the tables of the dataset and their columns'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "restore-vlan-offload" -d 'Have a card take VLAN tags out again when standard input ends'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "top" -d 'Watch flows, opcodes, connections and events on a terminal'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s r -l read -d 'Capture file to read: pcap or pcapng, plain, gzip or zstd; `-` for standard input' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l check -d 'Look for so many seconds whether this is the right port, say so, and write nothing' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s o -l output -d 'How the summary is printed' -r -f -a "table\t'For people'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l filter -d 'Keep only packets for which this holds, such as `host 10.0.0.1 and not service cnp`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l anonymize -d 'Put other addresses in the place of all, by a key of 64 hexadecimal digits, or @ and a file that holds them; addresses with a common prefix keep one of the same length' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l udp-port -d 'UDP destination port that carries RoCEv2; up to four' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s i -l interface -d 'Interface to capture on; may be given several times' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l mode -d 'How frames are taken; `auto` tries native, then generic XDP, then `af-packet`' -r -f -a "auto\t'The first of the others that works'
native\t'XDP in the driver'
generic\t'XDP behind the driver'
af-packet\t'A packet socket'"
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l verdict -d 'What becomes of frames behind XDP; `auto` drops them where nothing uses the interface' -r -f -a "auto\t'Dropped where the interface has no address, no master and no default route'
pass\t'It goes on to the kernel'
drop\t'It ends here'"
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l duration -d 'End after this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l vlan-offload -d 'VLAN tags that the card takes out of frames: `off` has it leave them in, until the capture ends' -r -f -a "keep\t'It stays as it is'
off\t'Tags stay in the frames'"
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l ring-bytes -d 'Memory of the rings that XDP hands runs over in, all CPUs together; each has from 64 KiB to 32 MiB' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l metrics -d 'Serve figures for Prometheus at this address, such as 127.0.0.1:9464' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l metrics-flows -d 'Flows in those figures: the largest of the last window' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l out -d 'Write a Parquet dataset into this directory' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l segment-age -d 'A segment is sealed when its first rows are this old' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l segment-bytes -d 'A segment is sealed when it has this many bytes before compression' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-age -d 'Delete sealed segments whose hour ended longer ago than this, and such files of the flight recorder' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-bytes -d 'Delete the oldest sealed segments when all together have more bytes than this' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-frames -d 'Hold the headers of this many seconds of frames in memory, and write a pcapng file around each NAK, RNR NAK and jitter event; on interfaces takes packet sockets' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-frames-dir -d 'Where these files go; `_frames` in the dataset unless given' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-frames-memory -d 'Memory for headers; when it is full the oldest go before their time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-frames-disk -d 'These files have no more bytes than this, earlier ones too, of which the oldest make room' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-frames-per-hour -d 'Begin so many files in an hour at most' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l observer -d 'Name of this capture point, in every row and file name' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l window -d 'Length of a window of event time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l lateness -d 'How long a window waits for frames that come out of order' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l top -d 'Top flows in the summary; connections and events printed at most' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l flow-rows -d 'Top flows of each window in the dataset' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l exact-flows -d 'Flows counted exactly, a window and in all; sketches take over beyond it' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l elephant -d 'Rate from which a flow is an elephant, in bits a second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l jitter-relative -d 'Change between windows that is jitter, as a share of the rate before' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l jitter-absolute -d 'Change between windows that is jitter, in bits a second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l connections -d 'Follow connections too: loss, order and round trips of every queue pair'
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l verify-icrc -d 'Verify the ICRC of every packet'
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s q -l quiet -d 'No progress bar'
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l no-sketches -d 'Leave bitmaps and Count-Min tables out of the dataset'
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand completions" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand completions" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand completions" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l listen -d 'Where to listen' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l out -d 'Dataset that all agents\' rows go into' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l cert -d 'The collector\'s certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l key -d 'The key of the certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l client-ca -d 'Certificate of the authority that signs agents (PEM); an agent\'s name is the first DNS name in its certificate' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l max-agents -d 'Agents at once' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l max-waiting -d 'Most bytes of rows that wait to be written; when there are more, agents wait' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l duration -d 'End after this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l metrics -d 'Serve figures for Prometheus at this address, such as 127.0.0.1:9465' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l status -d 'How often a line says what was stored' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l observer -d 'Name of the collector, in file names and in the rows of its diagnosis' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l segment-age -d 'A segment is sealed when its first rows are this old' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l keep-age -d 'Delete sealed segments whose hour ended longer ago than this' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l keep-bytes -d 'Delete the oldest sealed segments when all together have more bytes than this' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l topology -d 'Nodes and their addresses (TOML); without it every address is a node of its own' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l lateness -d 'A window is analysed this long after its end; rows that come later are stored and not analysed' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l scale -d 'Divide the lengths of windows by this: for a mesh whose every time was divided so' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l no-sync -d 'Acknowledge rows that the kernel has and the disk has not: a loss of power may cost some'
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -s q -l quiet -d 'Say nothing but what goes wrong'
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l diagnose -d 'Analyse each window of 20 s as `diagnose hostmesh` does, say what fails, and write the tables `sla`, `verdicts` and `links`'
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and not __fish_seen_subcommand_from print check template help" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and not __fish_seen_subcommand_from print check template help" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and not __fish_seen_subcommand_from print check template help" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and not __fish_seen_subcommand_from print check template help" -f -a "print" -d 'Print every setting as it stands, and where it comes from'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and not __fish_seen_subcommand_from print check template help" -f -a "check" -d 'Read the configuration file and say whether all is right with it'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and not __fish_seen_subcommand_from print check template help" -f -a "template" -d 'Print a configuration file with every setting, its meaning and its default'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and not __fish_seen_subcommand_from print check template help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from print" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from print" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from print" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from check" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from check" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from template" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from template" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from template" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "print" -d 'Print every setting as it stands, and where it comes from'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "check" -d 'Read the configuration file and say whether all is right with it'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "template" -d 'Print a configuration file with every setting, its meaning and its default'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -s r -l read -d 'Capture file to read: pcap or pcapng, plain, gzip or zstd; `-` for standard input' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l filter -d 'Print only connections of which a direction is so, such as `lost_gaps > 0 or qp 17`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -s o -l output -d 'How connections are printed' -r -f -a "table\t'For people'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l udp-port -d 'UDP destination port that carries RoCEv2; up to four' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -s i -l interface -d 'Interface to capture on; may be given several times' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l mode -d 'How frames are taken; `auto` tries native, then generic XDP, then `af-packet`' -r -f -a "auto\t'The first of the others that works'
native\t'XDP in the driver'
generic\t'XDP behind the driver'
af-packet\t'A packet socket'"
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l verdict -d 'What becomes of frames behind XDP; `auto` drops them where nothing uses the interface' -r -f -a "auto\t'Dropped where the interface has no address, no master and no default route'
pass\t'It goes on to the kernel'
drop\t'It ends here'"
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l duration -d 'End after this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l vlan-offload -d 'VLAN tags that the card takes out of frames: `off` has it leave them in, until the capture ends' -r -f -a "keep\t'It stays as it is'
off\t'Tags stay in the frames'"
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l ring-bytes -d 'Memory of the rings that XDP hands runs over in, all CPUs together; each has from 64 KiB to 32 MiB' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l metrics -d 'Serve figures for Prometheus at this address, such as 127.0.0.1:9464' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l metrics-flows -d 'Flows in those figures: the largest of the last window' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l observer -d 'Name of this capture point, in every row and file name' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l window -d 'Length of a window of event time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l lateness -d 'How long a window waits for frames that come out of order' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l top -d 'Top flows in the summary; connections and events printed at most' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l flow-rows -d 'Top flows of each window in the dataset' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l exact-flows -d 'Flows counted exactly, a window and in all; sketches take over beyond it' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l elephant -d 'Rate from which a flow is an elephant, in bits a second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l jitter-relative -d 'Change between windows that is jitter, as a share of the rate before' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l jitter-absolute -d 'Change between windows that is jitter, in bits a second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -s q -l quiet -d 'No progress bar'
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand demo" -l out -d 'Where the dataset goes; what an earlier demo wrote there is replaced' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand demo" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand demo" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand demo" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and not __fish_seen_subcommand_from hostmesh help" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and not __fish_seen_subcommand_from hostmesh help" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and not __fish_seen_subcommand_from hostmesh help" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and not __fish_seen_subcommand_from hostmesh help" -f -a "hostmesh" -d 'Find the NIC, link or switch that fails, from probes between the NICs of hosts and their paths'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and not __fish_seen_subcommand_from hostmesh help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -s o -l output -d 'How the diagnosis is printed' -r -f -a "text\t'For people: a line a problem'
json\t'One JSON object: problems, and the rows of `verdicts` and `sla`'"
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l topology -d 'Nodes and their addresses (TOML); without it every address is a node of its own' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l window -d 'Length of a window' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l sticky -d 'How long an anomalous NIC stays so after its window' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l scale -d 'Divide both by this: for a mesh whose every time was divided so' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l most-ignored -d 'Drops in a window, as switch problems, that nobody votes on' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l observer -d 'Name of the analyzer in the rows that it writes' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l write -d 'Write the tables `sla`, `verdicts` and `links` into the dataset'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from help" -f -a "hostmesh" -d 'Find the NIC, link or switch that fails, from probes between the NICs of hosts and their paths'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand doctor" -s i -l interface -d 'Interface to look at; all but the loopback unless given' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand doctor" -s o -l output -d 'How findings are printed' -r -f -a "table\t'For people'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand doctor" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand doctor" -l try -d 'Attach a program that passes every frame, and detach it at once'
complete -c rocescope -n "__fish_rocescope_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand doctor" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -s r -l read -d 'Capture file to read: pcap or pcapng, plain, gzip or zstd; `-` for standard input' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -s w -l write -d 'pcapng file to write; `-` for standard output' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -l filter -d 'Which packets, such as `qp 17 and opcode *ACKNOWLEDGE*`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -l udp-port -d 'UDP destination port that carries RoCEv2; up to four' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -s q -l quiet -d 'No progress bar'
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -s w -l write -d 'Capture file to write (pcap, nanoseconds); the truth goes to `FILE.truth.json`' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l seed -d 'Seed: the same one gives the same bytes' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l snaplen -d 'Bytes kept of each frame' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l iface -d 'Interface to send on: at the scenario\'s own times, unless a rate is given' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l pps -d 'Send the first 16,384 frames of the scenario over and over, so many a second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l count -d 'End after so many frames' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l duration -d 'End after this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l by -d 'How frames get into the kernel; `auto` makes live frames from 50,000 a second on' -r -f -a "auto\t'Whatever suits the rate and the frames'
live\t'Packets that the kernel makes, filled by an XDP program; takes a core'
packet\t'A packet socket'"
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -s o -l output -d 'How the result is printed' -r -f -a "table\t'For people'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l full-speed -d 'The same, as fast as the kernel takes them'
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand man" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand man" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand man" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand merge" -l out -d 'Where the merged dataset goes' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand merge" -l observer -d 'Name of the capture point in the merged rows and file names' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand merge" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand merge" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand merge" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -s i -l interface -d 'NIC to probe from and to; two at least' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l observer -d 'Name of this host, in every row and file name; unless given, its host name' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l duration -d 'End after this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -s o -l output -d 'How the summary is printed' -r -f -a "table\t'For people'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l backend -d 'How probes get out and in' -r -f -a "raw\t'As frames over packet sockets: any Ethernet NIC'
verbs\t'By UD queue pairs of RDMA NICs, which stamp them; paths are not traced'"
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l interval -d 'Between two probes of a NIC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l timeout -d 'A probe that takes longer is lost' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l port -d 'UDP destination port; unless given 4791, or 47910 where a NIC is an RDMA device, which would keep 4791 for itself' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l source-ports -d 'UDP source ports of a NIC, drawn by chance' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l renew -d 'How long a source port is used' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l max-cpu -d 'Share of a core beyond which the interval is doubled' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l seed -d 'Seed of all chance; unless given, another each time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l paths-rate -d 'Traces a second and NIC; 0 for none' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l icmp-rate -d 'Answers a second that any one hop is asked for' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l max-hops -d 'Hops of the longest path that is looked for' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l refresh -d 'A path that stays is written again after this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l window -d 'How often a line says what was seen' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l out -d 'Write a Parquet dataset into this directory' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l segment-age -d 'A segment is sealed when its first rows are this old' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l keep-age -d 'Delete sealed segments whose hour ended longer ago than this' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l keep-bytes -d 'Delete the oldest sealed segments when all together have more bytes than this' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l collector -d 'Send rows to `rocescope collect`, as in `https://collector.example:4792`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l cert -d 'The agent\'s certificate (PEM), whose first DNS name is the observer' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l key -d 'The key of the certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l ca -d 'Certificate of the authority that signed the collector\'s (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l spool -d 'Directory for rows that the collector has not acknowledged' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l spool-bytes -d 'Most bytes of the spool; when it is full its oldest rows go' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l all -d 'Every Ethernet interface that is up and has an address; with `--backend verbs`, of those the RDMA devices'
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -s q -l quiet -d 'Say nothing until the summary'
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand repair" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand repair" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand repair" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -s o -l output -d 'How the report is printed; `text`, unless `--html` alone is asked for' -r -f -a "text\t'For terminals'
markdown\t'For issues and wikis'
json\t'One JSON object'
csv\t'One table, see `--table`'"
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l table -d 'The table that `-o csv` prints' -r -f -a "flows\t'The largest flows'
connections\t'The connections with most trouble, a row a direction'
opcodes\t'All opcodes'
events\t'The most telling events of each kind'
windows\t'Windows, at most 1,000: of more, neighbours are joined'
pairs\t'The pairs of NICs that probed each other'
sla\t'How well the mesh of probes did over time'
verdicts\t'What fails in it: the last verdict of each problem'
links\t'Its links, summed over time'"
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l html -d 'Write one HTML page with charts, which opens without a network' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l from -d 'Windows and events from this time on, in UTC, such as 2026-11-21T02:30:09Z' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l to -d 'Windows and events before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l top -d 'Rows of each list' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l filter -d 'Flows, connections and events for which this holds, such as `host 10.0.0.1`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l observer -d 'Rows of this capture point alone' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand schema" -s o -l output -d 'How it is printed' -r -f -a "table\t'For people'
json\t'For programs'
markdown\t'The page `docs/formats.md`'"
complete -c rocescope -n "__fish_rocescope_using_subcommand schema" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand schema" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand restore-vlan-offload" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand restore-vlan-offload" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand restore-vlan-offload" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -s r -l read -d 'Capture file to play: pcap or pcapng, plain, gzip or zstd; `-` for standard input' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l speed -d 'How fast a file or dataset is played: 1 as recorded, 10 ten times as fast, `max`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l at -d 'Begin with the window of this time, such as `2026-01-01T09:30:00Z`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l filter -d 'Keep only packets for which this holds; of a dataset, show only such rows' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l udp-port -d 'UDP destination port that carries RoCEv2; up to four' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l sort -d 'Column by which flows are sorted first, also where they are printed' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l fps -d 'Times a second that the screen is painted at most' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l theme -d 'Colours; without it those for a dark terminal, and none where the variable `NO_COLOR` is set' -r -f -a "dark\t'For a dark terminal'
light\t'For a bright one'
none\t'None'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l bind -d 'Give a key to an action, such as `quit=ctrl-q`; the help page (`?`) lists the actions\' keys' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l windows -d 'Print so many windows' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -s o -l output -d 'How they are printed' -r -f -a "table\t'For people: its sums, and the first rows of a table'
json\t'One JSON object a window and line, with the rows of every table'
csv\t'The rows of a table under the names of its columns, all of them, as RFC 4180 has it'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l table -d 'The table of `table` and `csv`; without it `flows`, or `pairs` where there are probes alone' -r -f -a "flows\t'Top flows'
opcodes\t'Opcode mix'
connections\t'Each direction of each connection'
events\t'Events'
windows\t'The sums'
pairs\t'Of a dataset with probes, the pairs of NICs'
sla\t'How well the mesh of probes did'
verdicts\t'What fails in it'
links\t'Its links'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -s i -l interface -d 'Interface to capture on; may be given several times' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l mode -d 'How frames are taken; `auto` tries native, then generic XDP, then `af-packet`' -r -f -a "auto\t'The first of the others that works'
native\t'XDP in the driver'
generic\t'XDP behind the driver'
af-packet\t'A packet socket'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l verdict -d 'What becomes of frames behind XDP; `auto` drops them where nothing uses the interface' -r -f -a "auto\t'Dropped where the interface has no address, no master and no default route'
pass\t'It goes on to the kernel'
drop\t'It ends here'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l duration -d 'End after this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l vlan-offload -d 'VLAN tags that the card takes out of frames: `off` has it leave them in, until the capture ends' -r -f -a "keep\t'It stays as it is'
off\t'Tags stay in the frames'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l ring-bytes -d 'Memory of the rings that XDP hands runs over in, all CPUs together; each has from 64 KiB to 32 MiB' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l metrics -d 'Serve figures for Prometheus at this address, such as 127.0.0.1:9464' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l metrics-flows -d 'Flows in those figures: the largest of the last window' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l observer -d 'Name of this capture point, in every row and file name' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l window -d 'Length of a window of event time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l lateness -d 'How long a window waits for frames that come out of order' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l top -d 'Top flows in the summary; connections and events printed at most' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l flow-rows -d 'Top flows of each window in the dataset' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l exact-flows -d 'Flows counted exactly, a window and in all; sketches take over beyond it' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l elephant -d 'Rate from which a flow is an elephant, in bits a second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l jitter-relative -d 'Change between windows that is jitter, as a share of the rate before' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l jitter-absolute -d 'Change between windows that is jitter, in bits a second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l config -d 'Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l connections -d 'Follow connections on interfaces too; of a file they always are'
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l bytes -d 'Rates in bytes a second instead of bits, on the screen and in text tables'
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l ascii -d 'ASCII characters alone; chosen by itself where the locale is not UTF-8'
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l mouse -d 'Rows, headings and tabs are chosen by the mouse too'
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l once -d 'Print a window and end; of a file or dataset the first one'
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "capture" -d 'Read a capture file or interfaces: top flows, opcode mix, and a Parquet dataset'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "completions" -d 'Print a script that completes commands and options in a shell'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "collect" -d 'Take the rows of agents over the network into one dataset, and say what fails'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "config" -d 'Print, check or make a configuration file'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "connections" -d 'Print what each queue pair did: loss, order, latency, congestion'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "demo" -d 'Show the whole path at work, without privileges or input'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "diagnose" -d 'Find what fails, and where, in what a dataset holds'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "doctor" -d 'Say what stands in the way of a capture on this machine, and what mends it'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "extract" -d 'Write the frames of a capture file that a filter wants into another'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "generate" -d 'Write deterministic RoCEv2 traffic from a scenario, with its truth beside it'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "man" -d 'Write the manual pages'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "merge" -d 'Join the datasets of several boxes, window by window'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "probe" -d 'Probe between the NICs of this host: loss and latency one way, and the paths'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "repair" -d 'Seal what a killed capture left in a dataset, and name what does not read'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "report" -d 'Sum a dataset up: for people, for programs, or as one HTML page with charts'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "schema" -d 'Print the tables of the dataset and their columns'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "restore-vlan-offload" -d 'Have a card take VLAN tags out again when standard input ends'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "top" -d 'Watch flows, opcodes, connections and events on a terminal'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from capture completions collect config connections demo diagnose doctor extract generate man merge probe repair report schema restore-vlan-offload top help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "print" -d 'Print every setting as it stands, and where it comes from'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "check" -d 'Read the configuration file and say whether all is right with it'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "template" -d 'Print a configuration file with every setting, its meaning and its default'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from diagnose" -f -a "hostmesh" -d 'Find the NIC, link or switch that fails, from probes between the NICs of hosts and their paths'
