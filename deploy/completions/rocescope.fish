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

complete -c rocescope -n "__fish_rocescope_needs_command" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_needs_command" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_needs_command" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "agent" -d 'Run what the configuration file asks for on this host, in one process: probes, paths, counters'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "capture" -d 'Capture from interfaces or a file: top flows, opcode mix, and a Parquet dataset'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "completions" -d 'Print the completion script for a shell'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "collect" -d 'Collect the rows of agents over the network into one dataset, and diagnose the mesh'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "compact" -d 'Join the small segments of a dataset into larger ones, once their hour is over'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "compare" -d 'Compare two datasets, or two times of one: what changed, the largest change first'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "collective" -d 'Read the steps of collectives and the telemetry of switches'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "config" -d 'Print, check or generate a configuration file'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "connections" -d 'Print loss, reordering, latency and congestion for each queue pair'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "control" -d 'Show and change the configuration of all agents and capture boxes'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "counters" -d 'Read what the RDMA devices and network interfaces of this host count'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "demo" -d 'Run the whole pipeline on generated traffic, without privileges or input'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "diagnose" -d 'Locate failures from the rows of a dataset'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "doctor" -d 'Check whether this machine can capture, and print how to fix what prevents it'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "extract" -d 'Copy the frames that match a filter to another capture file'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "generate" -d 'Generate deterministic RoCEv2 traffic from a scenario, with its ground truth'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "hostping" -d 'Locate the bottleneck inside a host from loopback tests of its NICs'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "man" -d 'Write the manual pages'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "merge" -d 'Merge the datasets of several capture boxes, hosts and agents'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "paths" -d 'Find the links that flows cross, and how unevenly they lie on them'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "probe" -d 'Probe between the NICs of this host: one-way loss and latency, and paths'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "repair" -d 'Seal the journals that a killed capture left in a dataset, and list unreadable files'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "report" -d 'Summarize a dataset as text, JSON, CSV or one HTML page with charts'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "schema" -d 'Print the tables of the dataset and their columns'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "restore-vlan-offload" -d 'Restore the VLAN offload of a NIC when standard input ends'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "ship" -d 'Copy the sealed segments of a dataset to an object store'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "sql" -d 'Query datasets with SQL, on disk or in an object store'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "top" -d 'Show flows, opcodes, connections and events in the terminal'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "topology" -d 'Check, print or convert the topology of a fabric'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "verify" -d 'Check every file of a dataset against its checksums, and its tables against each other'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -l observer -d 'Name of this host in every row; default: its host name' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -l duration -d 'Stop after DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -s o -l output -d 'Format of the summary of probes' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -l collector -d 'Send rows to the `rocescope collect` at URL, such as `https://collector.example:4792`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -l cert -d 'The agent\'s certificate (PEM); its first DNS name is the observer' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -l key -d 'The key of the certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -l ca -d 'CA certificate that signed the collector\'s certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -l spool -d 'Directory for rows that the collector has not acknowledged yet' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -l spool-bytes -d 'Maximum size of the spool; when it is full, the oldest rows are deleted' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -l control-file -d 'Keep the configuration of the controller in FILE; default: `controlled.toml` in the spool' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -l window -d 'Take a configuration of the controller at the end of a window of DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -l flow-probes -d 'Maximum number of probes along paths of flows that the controller may request for one window, which other agents answer; 0: none, and no answers' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -s q -l quiet -d 'Print only summaries'
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand agent" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s r -l read -d 'Capture files to read as one, in the order of time: pcap or pcapng, plain, gzip or zstd; or a directory of them; `-` for standard input' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s c -l count -d 'Stop after COUNT frames that match the filter; live, this uses a packet socket' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s w -l write -d 'Write the frames that match the filter to this pcapng file; `-` for standard output; live, this uses a packet socket' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l check -d 'Observe the port for SECONDS and judge it; writes no dataset' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s o -l output -d 'Format of the summary, or of every window' -r -f -a "table\t'Text tables'
json\t'One JSON object'
jsonl\t'A line of JSON for each window as it ends, and one for the summary'"
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l filter -d 'Count only packets that match EXPR, such as `host 10.0.0.1 and not service cnp`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l anonymize -d 'Anonymize IP addresses, preserving prefixes; KEY is 64 hexadecimal digits, or @ and the path of a file with them' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l udp-port -d 'UDP destination port that carries RoCEv2; up to four' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l status-interval -d 'Print a line with rates, flows and losses to standard error every DURATION while a live capture runs; default: 10 s on a terminal, otherwise no line' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l hosts -d 'Show the names that FILE gives to addresses, in the format of `/etc/hosts`, as `name (address)`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l mode -d 'How frames are captured; `auto` tries native XDP, then generic XDP, then `af-packet`' -r -f -a "auto\t'First of the other modes that works'
native\t'XDP in the driver'
generic\t'XDP after the driver'
af-packet\t'Packet socket'"
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l direction -d 'Frames that arrive, that leave, or both; XDP sees arriving frames only, so `out` and `both` use packet sockets' -r -f -a "in\t'Frames that arrive'
out\t'Frames that this host sends'
both\t'All frames'"
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l verdict -d 'What happens to frames after XDP; `auto` drops them if nothing else uses the interface' -r -f -a "auto\t'Drop if the interface has no address, no master and no default route'
pass\t'Pass frames to the kernel'
drop\t'Drop frames'"
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l duration -d 'Stop after DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l vlan-offload -d 'VLAN offload of the NIC; `off` leaves tags in the frames while the capture runs' -r -f -a "keep\t'Leave it unchanged'
off\t'Leave tags in the frames'"
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l ring-bytes -d 'Memory for the XDP ring buffers of all CPUs; each buffer has 64 KiB to 32 MiB' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l metrics -d 'Serve Prometheus metrics on this address, such as 127.0.0.1:9464' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l metrics-flows -d 'Number of flows in the metrics: the largest of the last window' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l out -d 'Write a Parquet dataset to this directory' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l segment-bytes -d 'Seal a segment when it reaches SIZE before compression' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l segment-age -d 'Seal a segment when its first rows are older than DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-age -d 'Delete sealed segments, and recordings of a capture, whose hour ended more than DURATION ago' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-bytes -d 'Delete the oldest sealed segments when the total exceeds SIZE' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-free -d 'Keep SIZE of the file system free: with --keep-age or --keep-bytes, delete the oldest segments first; otherwise stop storing until there is space; agents of a collector keep their rows until then. Without this option, 5 % of the file system, at most 1 GiB' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-frames -d 'Keep the headers of the last SECONDS of frames in memory, and write a pcapng file around each NAK, RNR NAK and jitter event; on interfaces, this uses packet sockets' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-frames-dir -d 'Directory of the recordings; default: `_frames` in the dataset' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-frames-memory -d 'Memory for headers; when it is full, the oldest are overwritten early' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-frames-disk -d 'Maximum total size of the recordings; the oldest earlier ones are deleted to make room' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l keep-frames-per-hour -d 'Start at most COUNT recordings per hour' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l observer -d 'Name of this capture box in every row and file name' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l window -d 'Length of a window, in event time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l lateness -d 'Wait DURATION for frames that arrive out of order before a window closes' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l top -d 'Maximum number of flows, connections and events in the summary' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l flow-rows -d 'Number of top flows of each window in the dataset' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l spread-rows -d 'Number of UDP source ports of sprayed directions of each window in the dataset, the largest directions first' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l exact-flows -d 'Maximum number of flows counted exactly, in a window and in total; sketches estimate the rest' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l flow-key -d 'Whether the UDP source port separates flows' -r -f -a "auto\t'The port, except in directions whose sender sprays packets over many ports'
port\t'The port, always'
direction\t'Addresses and destination QP alone'"
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l connection-memory -d 'Memory for the state of connections; at the limit, the packets of further ones are only counted' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l elephant -d 'Minimum rate of an elephant flow, in bits per second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l jitter-relative -d 'Minimum change between windows that counts as jitter, relative to the previous rate' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l jitter-absolute -d 'Minimum change between windows that counts as jitter, in bits per second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l collector -d 'Take thresholds from the controller at URL, such as `https://collector.example:4792`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l cert -d 'The certificate of this capture box (PEM); its first DNS name is its name' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l key -d 'The key of the certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l ca -d 'CA certificate that signed the collector\'s certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l control-file -d 'Keep the configuration of the controller in FILE' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l spool -d 'Send rows for the analysis of hosts: keep those in DIR that the collector has not acknowledged' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l spool-bytes -d 'Maximum size of the spool; when it is full, the oldest rows are deleted' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l wire-rows -d 'Rows a window for the analysis of hosts, those with trouble first; the others are counted' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l small-flows -d 'Number of flows below the elephant threshold, smallest first, along whose paths each window requests probes' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l recordings -d 'Number of recordings an hour that agents may request, of flows of slow steps that pass this box; 0: none' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s i -l interface -d 'Interface to capture on; repeatable' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s D -l list-interfaces -d 'List the interfaces: state, speed, driver, XDP mode and RDMA device'
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l connections -d 'Track connections: loss, reordering and round trips of every queue pair'
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l collectives -d 'Write the steps of collectives to the table `steps`, with how long each waited for its receiver and its sender'
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l verify-icrc -d 'Verify the ICRC of every packet'
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s q -l quiet -d 'Hide the progress bar and the status line'
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -l no-sketches -d 'Omit bitmaps and Count-Min tables from the dataset'
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand capture" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand completions" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand completions" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand completions" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l listen -d 'Listen on this address' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l out -d 'Write the rows of all agents to the dataset in this directory' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l cert -d 'The collector\'s certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l key -d 'The key of the certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l client-ca -d 'CA certificate that signs agents (PEM); an agent\'s name is the first DNS name in its certificate' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l control-dir -d 'Be the controller too: keep the versions of its configuration in DIR' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l control -d 'The first version of the controller\'s configuration (TOML); later ones come with `rocescope control apply`' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l max-agents -d 'Maximum number of connected agents' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l max-waiting -d 'Maximum size of the rows that wait to be written; above it, agents wait' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l duration -d 'Stop after DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l metrics -d 'Serve Prometheus metrics on this address, such as 127.0.0.1:9465' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l status -d 'Print a status line every DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l observer -d 'Name of the collector in file names and in the rows of its diagnosis' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l segment-age -d 'Seal a segment when its first rows are older than DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l keep-age -d 'Delete sealed segments, and recordings of a capture, whose hour ended more than DURATION ago' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l keep-bytes -d 'Delete the oldest sealed segments when the total exceeds SIZE' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l keep-free -d 'Keep SIZE of the file system free: with --keep-age or --keep-bytes, delete the oldest segments first; otherwise stop storing until there is space; agents of a collector keep their rows until then. Without this option, 5 % of the file system, at most 1 GiB' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l topology -d 'Nodes and their addresses (TOML); default: each address is a node' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l lateness -d 'Analyze a window DURATION after its end, and again when rows of it that came later have stopped coming: those of the last hour' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l scale -d 'Divide the length of windows by FACTOR, for a mesh whose intervals were divided by it' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l no-sync -d 'Acknowledge rows before they are synced to disk; a power failure may lose some'
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -s q -l quiet -d 'Print only errors and new problems'
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -l diagnose -d 'Diagnose probes as `diagnose hostmesh` does, in windows of 20 s, and counters with rows of capture boxes as `diagnose hosts` does, in windows of 10 s: print new problems, and write the tables `sla`, `verdicts`, `links` and `host_verdicts`'
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand collect" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand compact" -l segment-bytes -d 'Join segments up to SIZE; those of half of it stay as they are' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand compact" -l settle -d 'Leave hours that ended less than DURATION ago: rows may still come' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand compact" -s o -l output -d 'Format of the result' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand compact" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand compact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand compact" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand compare" -l from -d 'Read only rows from this time on: `2026-11-21T02:30:09Z`, `12:00` (today), `-1h` (an hour ago) or `now`; in UTC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand compare" -l to -d 'Read only rows before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand compare" -l last -d 'Read only rows of the last DURATION, such as `10m`, before `--to` or before now' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand compare" -l with-from -d 'Read only rows of B from this time on, as in `--from`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand compare" -l with-to -d 'Read only rows of B before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand compare" -l observer -d 'Include only rows of this capture box' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand compare" -l top -d 'Maximum number of changes of each table' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand compare" -s o -l output -d 'Format of the comparison' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand compare" -l hosts -d 'Show the names that FILE gives to addresses, in the format of `/etc/hosts`, as `name (address)`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand compare" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand compare" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and not __fish_seen_subcommand_from import follow help" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and not __fish_seen_subcommand_from import follow help" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and not __fish_seen_subcommand_from import follow help" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and not __fish_seen_subcommand_from import follow help" -f -a "import" -d 'Write steps of collectives and telemetry of switches to a dataset'
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and not __fish_seen_subcommand_from import follow help" -f -a "follow" -d 'Write the steps of collectives to a dataset while jobs write their files'
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and not __fish_seen_subcommand_from import follow help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from import" -l format -d 'Format of the input' -r -f -a "vedrfolnir\t'The folder of a run of Vedrfolnir\'s simulator: `fct.txt`, `telemetry_SWITCH.txt`, `pfc.txt`, `topology.txt`'
comma\t'`CoMMA`\'s JSON: a file for each rank'
nccl-profiler\t'The trace of NCCL\'s example profiler: a file for each process'
nccl-inspector\t'Lines of NCCL Inspector: a file for each process'
flight-recorder\t'JSON dumps of `PyTorch`\'s flight recorder: a file for each rank, whose name ends in the rank'
taps\t'Captures of ports of switches, on both sides of a queue: `taps.toml` names them'"
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from import" -l out -d 'Dataset to write the tables `steps` and `telemetry` to' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from import" -l collective -d 'Name of the collective in the rows, for formats that have none; default: the name of the folder' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from import" -l observer -d 'Name of the import in the rows' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from import" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from import" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -l format -d 'Format of the files' -r -f -a "comma\t'`CoMMA`\'s JSON'
nccl-profiler\t'The trace of NCCL\'s example profiler'
nccl-inspector\t'Lines of NCCL Inspector'
flight-recorder\t'JSON dumps of `PyTorch`\'s flight recorder'"
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -l steps -d 'Files that jobs write, or folders of them; what they have at the start is not read again' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -l out -d 'Dataset to write the table `steps` to; an agent sends its rows to the collector' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -l observer -d 'Name in the rows; default: the host name' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -l duration -d 'Stop after DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -l ranks -d 'Watch the steps: FILE has a line `RANK AGENT ADDRESS` for each rank. Without it an agent only sends steps' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -l threshold -d 'Ask when a round trip along the path of a step takes more than PERCENT of the shortest in the last minutes' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -l min-delay -d 'A round trip is slow only if it takes longer than the shortest by DURATION: timestamps of hosts vary' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -l detections -d 'Maximum number of detections in each step, without those that agents of other hosts pass on' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -l interval -d 'Time between two probes along the path of a step' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -l burst -d 'Number of probes in the burst along the path of a slow step; the budget is that of `flow-probes`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -l source-port -d 'UDP source port of probes for steps whose port is unknown: switches may route them by another path' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -l max-paths -d 'Maximum number of paths that are probed at a time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from follow" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from help" -f -a "import" -d 'Write steps of collectives and telemetry of switches to a dataset'
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from help" -f -a "follow" -d 'Write the steps of collectives to a dataset while jobs write their files'
complete -c rocescope -n "__fish_rocescope_using_subcommand collective; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and not __fish_seen_subcommand_from print check template help" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and not __fish_seen_subcommand_from print check template help" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and not __fish_seen_subcommand_from print check template help" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and not __fish_seen_subcommand_from print check template help" -f -a "print" -d 'Print every setting in effect and its source'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and not __fish_seen_subcommand_from print check template help" -f -a "check" -d 'Validate the configuration file'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and not __fish_seen_subcommand_from print check template help" -f -a "template" -d 'Print a configuration file with every setting, its meaning and its default'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and not __fish_seen_subcommand_from print check template help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from print" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from print" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from print" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from check" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from check" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from template" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from template" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from template" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "print" -d 'Print every setting in effect and its source'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "check" -d 'Validate the configuration file'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "template" -d 'Print a configuration file with every setting, its meaning and its default'
complete -c rocescope -n "__fish_rocescope_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l from -d 'Read only rows from this time on: `2026-11-21T02:30:09Z`, `12:00` (today), `-1h` (an hour ago) or `now`; in UTC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l to -d 'Read only rows before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l last -d 'Read only rows of the last DURATION, such as `10m`, before `--to` or before now' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -s r -l read -d 'Capture files to read as one, in the order of time: pcap or pcapng, plain, gzip or zstd; or a directory of them; `-` for standard input' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l hosts -d 'Show the names that FILE gives to addresses, in the format of `/etc/hosts`, as `name (address)`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l filter -d 'Print only connections with a direction that matches EXPR, such as `lost_gaps > 0 or qp 17`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -s o -l output -d 'Format of the output' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l udp-port -d 'UDP destination port that carries RoCEv2; up to four' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l mode -d 'How frames are captured; `auto` tries native XDP, then generic XDP, then `af-packet`' -r -f -a "auto\t'First of the other modes that works'
native\t'XDP in the driver'
generic\t'XDP after the driver'
af-packet\t'Packet socket'"
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l direction -d 'Frames that arrive, that leave, or both; XDP sees arriving frames only, so `out` and `both` use packet sockets' -r -f -a "in\t'Frames that arrive'
out\t'Frames that this host sends'
both\t'All frames'"
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l verdict -d 'What happens to frames after XDP; `auto` drops them if nothing else uses the interface' -r -f -a "auto\t'Drop if the interface has no address, no master and no default route'
pass\t'Pass frames to the kernel'
drop\t'Drop frames'"
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l duration -d 'Stop after DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l vlan-offload -d 'VLAN offload of the NIC; `off` leaves tags in the frames while the capture runs' -r -f -a "keep\t'Leave it unchanged'
off\t'Leave tags in the frames'"
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l ring-bytes -d 'Memory for the XDP ring buffers of all CPUs; each buffer has 64 KiB to 32 MiB' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l metrics -d 'Serve Prometheus metrics on this address, such as 127.0.0.1:9464' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l metrics-flows -d 'Number of flows in the metrics: the largest of the last window' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l observer -d 'Name of this capture box in every row and file name' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l window -d 'Length of a window, in event time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l lateness -d 'Wait DURATION for frames that arrive out of order before a window closes' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l top -d 'Maximum number of flows, connections and events in the summary' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l flow-rows -d 'Number of top flows of each window in the dataset' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l spread-rows -d 'Number of UDP source ports of sprayed directions of each window in the dataset, the largest directions first' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l exact-flows -d 'Maximum number of flows counted exactly, in a window and in total; sketches estimate the rest' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l flow-key -d 'Whether the UDP source port separates flows' -r -f -a "auto\t'The port, except in directions whose sender sprays packets over many ports'
port\t'The port, always'
direction\t'Addresses and destination QP alone'"
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l connection-memory -d 'Memory for the state of connections; at the limit, the packets of further ones are only counted' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l elephant -d 'Minimum rate of an elephant flow, in bits per second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l jitter-relative -d 'Minimum change between windows that counts as jitter, relative to the previous rate' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l jitter-absolute -d 'Minimum change between windows that counts as jitter, in bits per second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -s i -l interface -d 'Interface to capture on; repeatable' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -s q -l quiet -d 'Hide the progress bar'
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand connections" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and not __fish_seen_subcommand_from status apply diff rollback help" -l collector -d 'Ask the controller at URL, such as `https://collector.example:4792`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and not __fish_seen_subcommand_from status apply diff rollback help" -l cert -d 'The operator\'s certificate (PEM); its first DNS name is the operator\'s name' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and not __fish_seen_subcommand_from status apply diff rollback help" -l key -d 'The key of the certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and not __fish_seen_subcommand_from status apply diff rollback help" -l ca -d 'CA certificate that signed the collector\'s certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and not __fish_seen_subcommand_from status apply diff rollback help" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and not __fish_seen_subcommand_from status apply diff rollback help" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and not __fish_seen_subcommand_from status apply diff rollback help" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and not __fish_seen_subcommand_from status apply diff rollback help" -f -a "status" -d 'Print which agent and capture box runs which version, who refused one and why, and who is away'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and not __fish_seen_subcommand_from status apply diff rollback help" -f -a "apply" -d 'Put the configuration in FILE in force, as the next version'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and not __fish_seen_subcommand_from status apply diff rollback help" -f -a "diff" -d 'Print what would change if FILE were applied; refuse what `apply` refuses'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and not __fish_seen_subcommand_from status apply diff rollback help" -f -a "rollback" -d 'Put an earlier version in force, as the next version'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and not __fish_seen_subcommand_from status apply diff rollback help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from status" -s o -l output -d 'Format of the status' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from status" -l collector -d 'Ask the controller at URL, such as `https://collector.example:4792`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from status" -l cert -d 'The operator\'s certificate (PEM); its first DNS name is the operator\'s name' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from status" -l key -d 'The key of the certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from status" -l ca -d 'CA certificate that signed the collector\'s certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from status" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from status" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from apply" -l collector -d 'Ask the controller at URL, such as `https://collector.example:4792`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from apply" -l cert -d 'The operator\'s certificate (PEM); its first DNS name is the operator\'s name' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from apply" -l key -d 'The key of the certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from apply" -l ca -d 'CA certificate that signed the collector\'s certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from apply" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from apply" -l unchecked -d 'Apply settings that this version of rocescope does not know; members check them'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from apply" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from apply" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from diff" -l collector -d 'Ask the controller at URL, such as `https://collector.example:4792`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from diff" -l cert -d 'The operator\'s certificate (PEM); its first DNS name is the operator\'s name' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from diff" -l key -d 'The key of the certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from diff" -l ca -d 'CA certificate that signed the collector\'s certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from diff" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from diff" -l unchecked -d 'Compare settings that this version of rocescope does not know'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from diff" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from rollback" -l collector -d 'Ask the controller at URL, such as `https://collector.example:4792`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from rollback" -l cert -d 'The operator\'s certificate (PEM); its first DNS name is the operator\'s name' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from rollback" -l key -d 'The key of the certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from rollback" -l ca -d 'CA certificate that signed the collector\'s certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from rollback" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from rollback" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from rollback" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from help" -f -a "status" -d 'Print which agent and capture box runs which version, who refused one and why, and who is away'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from help" -f -a "apply" -d 'Put the configuration in FILE in force, as the next version'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from help" -f -a "diff" -d 'Print what would change if FILE were applied; refuse what `apply` refuses'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from help" -f -a "rollback" -d 'Put an earlier version in force, as the next version'
complete -c rocescope -n "__fish_rocescope_using_subcommand control; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l interval -d 'Time between two reads' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l duration -d 'Stop after DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -s o -l output -d 'Format: a line for each port and read; with `--once`, a line for each counter. JSON: an array for each read, of all counters with `--once`, otherwise of those that changed' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l device -d 'Read only devices whose name matches PATTERN, such as `mlx5_*`; `host` is the host itself' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l metric -d 'Read only counters whose metric or name matches PATTERN, such as `*cnp*`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -s i -l interface -d 'Also read all statistics that the driver of this network interface has' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l sysfs-root -d 'Read a copy of `/sys` in DIR, and nothing else of this host' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l proc-root -d 'Read a copy of `/proc` in DIR' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l ethtool-root -d 'Read the output of `ethtool -S IFACE` in DIR/IFACE, instead of asking the driver' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l metrics -d 'Serve Prometheus metrics on this address, such as 127.0.0.1:9466' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l observer -d 'Name of this host in every row and file name; default: its host name' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l out -d 'Write a Parquet dataset to this directory: counters that changed' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l refresh -d 'Write unchanged counters again after DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l segment-age -d 'Seal a segment when its first rows are older than DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l keep-age -d 'Delete sealed segments, and recordings of a capture, whose hour ended more than DURATION ago' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l keep-bytes -d 'Delete the oldest sealed segments when the total exceeds SIZE' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l keep-free -d 'Keep SIZE of the file system free: with --keep-age or --keep-bytes, delete the oldest segments first; otherwise stop storing until there is space; agents of a collector keep their rows until then. Without this option, 5 % of the file system, at most 1 GiB' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l once -d 'Read once and print every value'
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -l queue-pairs -d 'Print the queue pairs of every device, and the process that created each; with `--out` and in an agent, write those that are new, changed or gone at every read'
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -s q -l quiet -d 'Print nothing while rows are written to a dataset'
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand counters" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand demo" -l out -d 'Directory of the dataset; replaces the dataset of an earlier demo' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand demo" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand demo" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand demo" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and not __fish_seen_subcommand_from hostmesh hosts hostping collective help" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and not __fish_seen_subcommand_from hostmesh hosts hostping collective help" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and not __fish_seen_subcommand_from hostmesh hosts hostping collective help" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and not __fish_seen_subcommand_from hostmesh hosts hostping collective help" -f -a "hostmesh" -d 'Locate the failing NIC, link or switch from probes between hosts and their paths'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and not __fish_seen_subcommand_from hostmesh hosts hostping collective help" -f -a "hosts" -d 'Say whose fault it is, application, host, NIC, link or network, from the counters of hosts and captured traffic'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and not __fish_seen_subcommand_from hostmesh hosts hostping collective help" -f -a "hostping" -d 'Locate the abnormal link inside each host from its last loopback tests'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and not __fish_seen_subcommand_from hostmesh hosts hostping collective help" -f -a "collective" -d 'Find which step, flow and port made a collective slow'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and not __fish_seen_subcommand_from hostmesh hosts hostping collective help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l from -d 'Read only rows from this time on: `2026-11-21T02:30:09Z`, `12:00` (today), `-1h` (an hour ago) or `now`; in UTC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l to -d 'Read only rows before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l last -d 'Read only rows of the last DURATION, such as `10m`, before `--to` or before now' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -s o -l output -d 'Format of the diagnosis' -r -f -a "text\t'Text, one line for each problem'
json\t'One JSON object: problems, and the rows of `verdicts` and `sla`'"
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l topology -d 'Nodes and their addresses (TOML); default: each address is a node' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l hosts -d 'Show the names that FILE gives to addresses, in the format of `/etc/hosts`, as `name (address)`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l window -d 'Length of a window' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l sticky -d 'Treat a NIC as anomalous for DURATION after its anomalous window' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l scale -d 'Divide `--window` and `--sticky` by FACTOR, for a mesh whose intervals were divided by it' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l most-ignored -d 'Ignore switch problems with at most COUNT drops in a window' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l observer -d 'Name of the analyzer in the rows it writes' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -l write -d 'Write the tables `sla`, `verdicts` and `links` to the dataset'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostmesh" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hosts" -l from -d 'Read only rows from this time on: `2026-11-21T02:30:09Z`, `12:00` (today), `-1h` (an hour ago) or `now`; in UTC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hosts" -l to -d 'Read only rows before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hosts" -l last -d 'Read only rows of the last DURATION, such as `10m`, before `--to` or before now' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hosts" -s o -l output -d 'Format of the diagnosis' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hosts" -l hosts -d 'Show the names that FILE gives to addresses, in the format of `/etc/hosts`, as `name (address)`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hosts" -l window -d 'Length of a window; counters should be read at least as often' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hosts" -l observer -d 'Name of the analyzer in the rows it writes' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hosts" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hosts" -l write -d 'Write the table `host_verdicts` to the dataset'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hosts" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hosts" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostping" -l from -d 'Read only rows from this time on: `2026-11-21T02:30:09Z`, `12:00` (today), `-1h` (an hour ago) or `now`; in UTC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostping" -l to -d 'Read only rows before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostping" -l last -d 'Read only rows of the last DURATION, such as `10m`, before `--to` or before now' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostping" -l observer -d 'Include only this host' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostping" -l rule -d 'Threshold: `seed` (80 % of the baseline), `superbench` (95 %), or Azure\'s figure of a model: `azure-a100`, `azure-h100`, `azure-h200`, `azure-mi300x`, `azure-hbv4`, `azure-hbv3`, `azure-v100`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostping" -l min-ratio -d 'Share of the baseline below which a test is abnormal, instead of `--rule`: `0.9`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostping" -s o -l output -d 'Format of the diagnosis' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostping" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostping" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from hostping" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from collective" -l from -d 'Read only rows from this time on: `2026-11-21T02:30:09Z`, `12:00` (today), `-1h` (an hour ago) or `now`; in UTC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from collective" -l to -d 'Read only rows before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from collective" -l last -d 'Read only rows of the last DURATION, such as `10m`, before `--to` or before now' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from collective" -l mode -d 'Rules of the analysis' -r -f -a "paper\t'As the paper of Vedrfolnir has it'
authors\t'As the program of Vedrfolnir\'s authors computes, to the digit'"
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from collective" -l reading -d 'How to read the paper where its text leaves a choice: `shares=printed`, for example; docs/collectives.md has them' -r -f -a "shares=downstream\t''
shares=printed\t''
shares=upstream\t''
spread=sum\t''
spread=max\t''
excess=clipped\t''
excess=signed\t''
excess=execution\t''
epochs=both\t''
epochs=current\t''"
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from collective" -l nccl-debug -d 'Name the ranks of captured steps: log of NCCL with `NCCL_DEBUG=INFO` and `NCCL_DEBUG_SUBSYS=INIT,NET`, or a folder of such logs' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from collective" -l collective -d 'The collective to analyze; default: the one that took longest' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from collective" -s o -l output -d 'Format of the result' -r -f -a "table\t'Text'
json\t'One JSON object'
dot\t'The critical path and the provenance graphs for Graphviz'"
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from collective" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from collective" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from collective" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from help" -f -a "hostmesh" -d 'Locate the failing NIC, link or switch from probes between hosts and their paths'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from help" -f -a "hosts" -d 'Say whose fault it is, application, host, NIC, link or network, from the counters of hosts and captured traffic'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from help" -f -a "hostping" -d 'Locate the abnormal link inside each host from its last loopback tests'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from help" -f -a "collective" -d 'Find which step, flow and port made a collective slow'
complete -c rocescope -n "__fish_rocescope_using_subcommand diagnose; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand doctor" -s i -l interface -d 'Interface to check; default: all except the loopback' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand doctor" -s o -l output -d 'Format of the findings' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand doctor" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand doctor" -l try -d 'Attach an XDP program that passes every frame, and detach it immediately'
complete -c rocescope -n "__fish_rocescope_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand doctor" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -s r -l read -d 'Capture files to read as one, in the order of time: pcap or pcapng, plain, gzip or zstd; or a directory of them; `-` for standard input' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -s w -l write -d 'pcapng file to write; `-` for standard output' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -l filter -d 'Copy only packets that match EXPR, such as `qp 17 and opcode *ACKNOWLEDGE*`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -l udp-port -d 'UDP destination port that carries RoCEv2; up to four' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -s q -l quiet -d 'Hide the progress bar'
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand extract" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -s w -l write -d 'Capture file to write (pcap, nanoseconds); the ground truth goes to `FILE.truth.json`' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l seed -d 'Seed of the random numbers; the same seed gives the same bytes' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l snaplen -d 'Truncate each frame to BYTES' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l iface -d 'Interface to send on, at the times of the scenario unless a rate is given' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l pps -d 'Repeat the first 16,384 frames of the scenario at RATE frames per second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l count -d 'Stop after COUNT frames' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l duration -d 'Stop after DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l by -d 'How frames are sent; `auto` selects live frames at 50,000 frames per second and above' -r -f -a "auto\t'Select by the rate and size of the frames'
live\t'XDP live frames: the kernel makes packets, an XDP program fills them; uses a whole core'
packet\t'Packet socket'"
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -s o -l output -d 'Format of the result' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -l full-speed -d 'Repeat the first 16,384 frames of the scenario as fast as the kernel accepts them'
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand generate" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and not __fish_seen_subcommand_from topology run diagnose baseline help" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and not __fish_seen_subcommand_from topology run diagnose baseline help" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and not __fish_seen_subcommand_from topology run diagnose baseline help" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and not __fish_seen_subcommand_from topology run diagnose baseline help" -f -a "topology" -d 'Draw the links of a host, and list what looks wrong without a test'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and not __fish_seen_subcommand_from topology run diagnose baseline help" -f -a "run" -d 'Measure each NIC with each endpoint of this host by loopback WRITEs, and locate the abnormal link'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and not __fish_seen_subcommand_from topology run diagnose baseline help" -f -a "diagnose" -d 'Locate the abnormal link of a host from loopback measurements'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and not __fish_seen_subcommand_from topology run diagnose baseline help" -f -a "baseline" -d 'Print the baseline of a model of hosts: the medians of healthy runs'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and not __fish_seen_subcommand_from topology run diagnose baseline help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from topology" -l topology -d 'Topology of the host: XML of `NCCL_TOPO_DUMP_FILE`, XML of `lstopo --of xml`, or the text of `nvidia-smi topo -m`' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from topology" -l sysfs-root -d 'Read the topology from DIR instead of `/sys` of this host' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from topology" -s o -l output -d 'Format of the topology' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from topology" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from topology" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from topology" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l topology -d 'Topology of the host: XML of `NCCL_TOPO_DUMP_FILE`, XML of `lstopo --of xml`, or the text of `nvidia-smi topo -m`' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l sysfs-root -d 'Read the topology from DIR instead of `/sys` of this host' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l nic -d 'NICs to test; default: all' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l endpoint -d 'Endpoints to test, such as `mem0` or `GPU3`; default: all' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l backend -d 'What runs the tests' -r -f -a "verbs\t'Queue pairs of the RDMA devices'
replay\t'Others\' measurements (`--replay`)'
simulated\t'A simulated host with the topology (`--slow`)'"
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l replay -d 'Measurements to replay: matrices as text, or the output of perftest or SuperBench' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l slow -d 'Links of the simulated host and what each carries, as a share of the rate of the NICs: `GPU0 <-> PCIe switch 0=0.1`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l max-time -d 'Stop after this time of tests' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l max-bytes -d 'Stop after the tests have written this many bytes' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l every -d 'Run again at this interval, when the host is idle' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l idle-for -d 'How long all NICs must be idle before a run' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l on-alarm -d 'Also test a busy host when a NIC pauses the switch or discards packets, at most once in DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l duration -d 'Stop after DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l counters-root -d 'Read the counters of the NICs below DIR instead of `/sys`' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l baseline -d 'Measurements of a healthy host of the same model, or their medians; default: compare the host with itself' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l rule -d 'Threshold: `seed` (80 % of the baseline), `superbench` (95 %), or Azure\'s figure of a model: `azure-a100`, `azure-h100`, `azure-h200`, `azure-mi300x`, `azure-hbv4`, `azure-hbv3`, `azure-v100`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l min-ratio -d 'Share of the baseline below which a test is abnormal, instead of `--rule`: `0.9`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l out -d 'Write the tests to the table `loopback` of this dataset' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l observer -d 'Name of the host in the rows; default: its host name' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -s o -l output -d 'Format of the diagnosis' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l plan -d 'Print which tests would run, how long and with how many bytes, and run none'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -l force -d 'Test although others use the NICs: short tests of bandwidth, which are compared with each other'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from run" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from diagnose" -l topology -d 'Topology of the host: XML of `NCCL_TOPO_DUMP_FILE`, XML of `lstopo --of xml`, or the text of `nvidia-smi topo -m`' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from diagnose" -l sysfs-root -d 'Read the topology from DIR instead of `/sys` of this host' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from diagnose" -l matrix -d 'Measurements: matrices as text, or the output of perftest or SuperBench; `NIC:ENDPOINT=FILE` names what a file of perftest measured' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from diagnose" -l baseline -d 'Measurements of a healthy host of the same model, or their medians; default: compare the host with itself' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from diagnose" -l node -d 'The host, if the measurements are of several' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from diagnose" -l rule -d 'Threshold: `seed` (80 % of the baseline), `superbench` (95 %), or Azure\'s figure of a model: `azure-a100`, `azure-h100`, `azure-h200`, `azure-mi300x`, `azure-hbv4`, `azure-hbv3`, `azure-v100`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from diagnose" -l min-ratio -d 'Share of the baseline below which a test is abnormal, instead of `--rule`: `0.9`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from diagnose" -l busy -d 'NICs that carried traffic during the tests, or `all`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from diagnose" -l out -d 'Write the tests to the table `loopback` of this dataset' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from diagnose" -l observer -d 'Name of the host in the rows; default: `--node`, or else the name of this host' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from diagnose" -s o -l output -d 'Format of the diagnosis' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from diagnose" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from diagnose" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from diagnose" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from baseline" -l topology -d 'Topology of the host: XML of `NCCL_TOPO_DUMP_FILE`, XML of `lstopo --of xml`, or the text of `nvidia-smi topo -m`' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from baseline" -l sysfs-root -d 'Read the topology from DIR instead of `/sys` of this host' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from baseline" -l matrix -d 'Healthy runs: each file is a run, or several if it names hosts' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from baseline" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from baseline" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from baseline" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from help" -f -a "topology" -d 'Draw the links of a host, and list what looks wrong without a test'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from help" -f -a "run" -d 'Measure each NIC with each endpoint of this host by loopback WRITEs, and locate the abnormal link'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from help" -f -a "diagnose" -d 'Locate the abnormal link of a host from loopback measurements'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from help" -f -a "baseline" -d 'Print the baseline of a model of hosts: the medians of healthy runs'
complete -c rocescope -n "__fish_rocescope_using_subcommand hostping; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand man" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand man" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand man" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand merge" -l from -d 'Read only rows from this time on: `2026-11-21T02:30:09Z`, `12:00` (today), `-1h` (an hour ago) or `now`; in UTC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand merge" -l to -d 'Read only rows before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand merge" -l last -d 'Read only rows of the last DURATION, such as `10m`, before `--to` or before now' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand merge" -l out -d 'Directory of the merged dataset' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand merge" -l observer -d 'Name of the observer in the merged rows and file names' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand merge" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand merge" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand merge" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and not __fish_seen_subcommand_from flows sflow discover fim advise compare help" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and not __fish_seen_subcommand_from flows sflow discover fim advise compare help" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and not __fish_seen_subcommand_from flows sflow discover fim advise compare help" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and not __fish_seen_subcommand_from flows sflow discover fim advise compare help" -f -a "flows" -d 'List the flows of a workload: from captures, datasets, sockets or queue pairs'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and not __fish_seen_subcommand_from flows sflow discover fim advise compare help" -f -a "sflow" -d 'Receive sFlow v5 datagrams of switches, and list the RoCEv2 flows in their samples'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and not __fish_seen_subcommand_from flows sflow discover fim advise compare help" -f -a "discover" -d 'Find the paths of flows: ask each switch for the egress port, hop by hop, over SSH'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and not __fish_seen_subcommand_from flows sflow discover fim advise compare help" -f -a "fim" -d 'Compute how unevenly flows lie on the links of each layer (Flow Imbalance Metric)'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and not __fish_seen_subcommand_from flows sflow discover fim advise compare help" -f -a "advise" -d 'Find source ports that would make the layers even, by asking the switches about other ports'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and not __fish_seen_subcommand_from flows sflow discover fim advise compare help" -f -a "compare" -d 'Compare the loads of links and the paths of two runs'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and not __fish_seen_subcommand_from flows sflow discover fim advise compare help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -l flows -d 'List of flows as JSON: `[{"src": "10.0.0.1", "dst": "10.0.1.1", "src_port": 49152}, …]`, or what `paths flows -o json` prints' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -l dataset -d 'Dataset: the flows of its table `flows`' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -s r -l read -d 'Capture files: the flows of their packets' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -l ss -d 'Sockets of a server: what `ss -tun` prints on it' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -l rdma -d 'Directory of SERVER.json with the queue pairs of each server, as docs/paths.md describes' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -l filter -d 'Keep only flows of the dataset and the capture files that match EXPR, such as `net 10.1.0.0/16`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -l pairs -d 'Keep only the flows of these server pairs: lines of `SRC DST [FLOWS]`, hosts of the topology or addresses' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -l from -d 'Read only rows from this time on: `2026-11-21T02:30:09Z`, `12:00` (today), `-1h` (an hour ago) or `now`; in UTC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -l to -d 'Read only rows before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -l last -d 'Read only rows of the last DURATION, such as `10m`, before `--to` or before now' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -l topology -d 'Topology: its hosts may be named in `--pairs`' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -s o -l output -d 'Format of the list' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -l hosts -d 'Show the names that FILE gives to addresses, in the format of `/etc/hosts`, as `name (address)`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from flows" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from sflow" -s l -l listen -d 'Address and UDP port to receive datagrams at' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from sflow" -l duration -d 'Stop after DURATION; default: at Ctrl-C' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from sflow" -l udp-port -d 'UDP destination port that carries RoCEv2; up to four' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from sflow" -s o -l output -d 'Format of the list' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from sflow" -l hosts -d 'Show the names that FILE gives to addresses, in the format of `/etc/hosts`, as `name (address)`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from sflow" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from sflow" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from sflow" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l topology -d 'Topology, in any format that `topology show` reads' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l driver -d 'Driver of switches for which the topology has none: linux, eos, cumulus, sonic, nxos, junos, or a TOML file' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l host-driver -d 'Driver of hosts for which the topology has none; default: hosts with one link are not asked' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l mode -d 'How flows are traced' -r -f -a "baseline\t'One flow after the other, new connections for each'
persistent\t'One flow after the other, connections stay open'
parallel\t'All flows at once'"
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l threads -d 'Questions at the same time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l sessions -d 'Sessions with a device at the same time; each runs one command at a time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l time-limit -d 'Wait for the answer to a command for this long' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l connect-limit -d 'Wait for a device to connect and log in for this long' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l user -d 'User on the devices; default: as the SSH client is configured' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l identity -d 'Private key; default: as the SSH client is configured, and its agent' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l known-hosts -d 'Host keys of the devices; default: as the SSH client is configured' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l password-file -d 'File whose first line is the password' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l ssh-config -d 'Configuration of the SSH client' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l flows -d 'List of flows as JSON: `[{"src": "10.0.0.1", "dst": "10.0.1.1", "src_port": 49152}, …]`, or what `paths flows -o json` prints' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l dataset -d 'Dataset: the flows of its table `flows`' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -s r -l read -d 'Capture files: the flows of their packets' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l ss -d 'Sockets of a server: what `ss -tun` prints on it' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l rdma -d 'Directory of SERVER.json with the queue pairs of each server, as docs/paths.md describes' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l filter -d 'Keep only flows of the dataset and the capture files that match EXPR, such as `net 10.1.0.0/16`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l pairs -d 'Keep only the flows of these server pairs: lines of `SRC DST [FLOWS]`, hosts of the topology or addresses' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l from -d 'Read only rows from this time on: `2026-11-21T02:30:09Z`, `12:00` (today), `-1h` (an hour ago) or `now`; in UTC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l to -d 'Read only rows before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l last -d 'Read only rows of the last DURATION, such as `10m`, before `--to` or before now' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l out -d 'Write the paths and the loads of links to the tables `flow_paths` and `link_loads` of this dataset' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l observer -d 'Name of the run in these rows' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -s o -l output -d 'Format of the result; `paths fim --paths` reads the JSON' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l hosts -d 'Show the names that FILE gives to addresses, in the format of `/etc/hosts`, as `name (address)`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -l assume-5-tuple -d 'Take the answers of devices that do not state what they hash, as if that were the 5-tuple; default: their flows have the outcome `hash_fields_unknown`'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from discover" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from fim" -l topology -d 'Topology, in any format that `topology show` reads' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from fim" -l paths -d 'Paths: JSON, `[{"flow": …, "hops": [["leaf1", "eth5"], …]}, …]`, or a dataset with the table `flow_paths`' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from fim" -l from -d 'Read only rows from this time on: `2026-11-21T02:30:09Z`, `12:00` (today), `-1h` (an hour ago) or `now`; in UTC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from fim" -l to -d 'Read only rows before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from fim" -l last -d 'Read only rows of the last DURATION, such as `10m`, before `--to` or before now' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from fim" -l top -d 'Links to print, those furthest from the ideal first' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from fim" -l out -d 'Write the loads to the table `link_loads` of this dataset' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from fim" -l observer -d 'Name of the analysis in the rows of `link_loads`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from fim" -s o -l output -d 'Format of the output' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from fim" -l hosts -d 'Show the names that FILE gives to addresses, in the format of `/etc/hosts`, as `name (address)`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from fim" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from fim" -l windows -d 'Compute the metric for each window of the dataset: of the flows that `flows` has in it'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from fim" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from fim" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l topology -d 'Topology, in any format that `topology show` reads' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l driver -d 'Driver of switches for which the topology has none: linux, eos, cumulus, sonic, nxos, junos, or a TOML file' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l host-driver -d 'Driver of hosts for which the topology has none; default: hosts with one link are not asked' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l mode -d 'How flows are traced' -r -f -a "baseline\t'One flow after the other, new connections for each'
persistent\t'One flow after the other, connections stay open'
parallel\t'All flows at once'"
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l threads -d 'Questions at the same time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l sessions -d 'Sessions with a device at the same time; each runs one command at a time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l time-limit -d 'Wait for the answer to a command for this long' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l connect-limit -d 'Wait for a device to connect and log in for this long' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l user -d 'User on the devices; default: as the SSH client is configured' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l identity -d 'Private key; default: as the SSH client is configured, and its agent' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l known-hosts -d 'Host keys of the devices; default: as the SSH client is configured' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l password-file -d 'File whose first line is the password' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l ssh-config -d 'Configuration of the SSH client' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l flows -d 'List of flows as JSON: `[{"src": "10.0.0.1", "dst": "10.0.1.1", "src_port": 49152}, …]`, or what `paths flows -o json` prints' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l dataset -d 'Dataset: the flows of its table `flows`' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -s r -l read -d 'Capture files: the flows of their packets' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l ss -d 'Sockets of a server: what `ss -tun` prints on it' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l rdma -d 'Directory of SERVER.json with the queue pairs of each server, as docs/paths.md describes' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l filter -d 'Keep only flows of the dataset and the capture files that match EXPR, such as `net 10.1.0.0/16`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l pairs -d 'Keep only the flows of these server pairs: lines of `SRC DST [FLOWS]`, hosts of the topology or addresses' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l from -d 'Read only rows from this time on: `2026-11-21T02:30:09Z`, `12:00` (today), `-1h` (an hour ago) or `now`; in UTC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l to -d 'Read only rows before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l last -d 'Read only rows of the last DURATION, such as `10m`, before `--to` or before now' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l candidates -d 'Source ports to try for each flow, with the one it has' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -s o -l output -d 'Format of the result' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l hosts -d 'Show the names that FILE gives to addresses, in the format of `/etc/hosts`, as `name (address)`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -l assume-5-tuple -d 'Take the answers of devices that do not state what they hash, as if that were the 5-tuple; default: their flows have the outcome `hash_fields_unknown`'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from advise" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from compare" -l run-a -d 'Run of A, if it is a dataset: 1 is the newest, 2 the one before' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from compare" -l run-b -d 'Run of B; A and B may be the same dataset' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from compare" -l topology -d 'Topology, in any format that `topology show` reads' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from compare" -l top -d 'Links and flows to print' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from compare" -s o -l output -d 'Format of the output' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from compare" -l hosts -d 'Show the names that FILE gives to addresses, in the format of `/etc/hosts`, as `name (address)`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from compare" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from compare" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from help" -f -a "flows" -d 'List the flows of a workload: from captures, datasets, sockets or queue pairs'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from help" -f -a "sflow" -d 'Receive sFlow v5 datagrams of switches, and list the RoCEv2 flows in their samples'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from help" -f -a "discover" -d 'Find the paths of flows: ask each switch for the egress port, hop by hop, over SSH'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from help" -f -a "fim" -d 'Compute how unevenly flows lie on the links of each layer (Flow Imbalance Metric)'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from help" -f -a "advise" -d 'Find source ports that would make the layers even, by asking the switches about other ports'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from help" -f -a "compare" -d 'Compare the loads of links and the paths of two runs'
complete -c rocescope -n "__fish_rocescope_using_subcommand paths; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -s i -l interface -d 'NIC to probe from and to; at least two, or one with `--peers`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l observer -d 'Name of this host in every row and file name; default: its host name' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l duration -d 'Stop after DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -s o -l output -d 'Format of the summary' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l backend -d 'How probes are sent and received' -r -f -a "raw\t'Frames over packet sockets; works on any Ethernet NIC'
verbs\t'UD queue pairs of RDMA NICs, with hardware timestamps; paths are not traced'"
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l interval -d 'Interval between two probes of a NIC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l timeout -d 'Count a probe without an answer after DURATION as lost' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l port -d 'UDP destination port; default: 4791, or 47910 if a NIC is an RDMA device, which reserves 4791' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l source-ports -d 'Number of random UDP source ports of a NIC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l renew -d 'Replace a source port after DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l dscp -d 'DSCPs of probes and path traces, separated by commas; the source ports take them in turn. Probe the classes that the traffic uses: each has its own queues in the switches' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l max-cpu -d 'Double the interval above this share of a core' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l seed -d 'Seed of the random numbers; default: a different one each time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l paths-rate -d 'Path traces per second and NIC; 0 disables tracing' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l icmp-rate -d 'Maximum number of ICMP answers per second requested from one hop' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l max-hops -d 'Maximum number of hops of a traced path' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l refresh -d 'Write an unchanged path again after DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l operations -d 'Measure how long SEND, WRITE and READ take between RC queue pairs, every DURATION, where NICs are RDMA devices' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l operations-peers -d 'Agents whose NICs answer, each the one of the same position; without them the next NIC of this host does. Only `rocescope agent` has a controller that introduces them' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l peers -d 'Probe NICs of other hosts too, whose agents answer: one line for each host, with the addresses of its NICs in the order of the rails and `-` where one is missing; the same FILE is right on all hosts' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l peer-rails -d 'NICs of other hosts that a NIC probes' -r -f -a "same\t'Those of its own rail'
all\t'Those of all rails'"
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l peers-at-once -d 'Number of NICs of other hosts that a NIC probes at a time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l peer-ports -d 'Number of UDP source ports for each of them; at most 24 for all that a NIC probes at a time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l peer-interval -d 'Interval between two probes of a NIC to other hosts' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l peer-period -d 'Replace a NIC of another host by the next one after DURATION; all take turns' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l window -d 'Print a status line every DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l out -d 'Write a Parquet dataset to this directory' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l segment-age -d 'Seal a segment when its first rows are older than DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l keep-age -d 'Delete sealed segments, and recordings of a capture, whose hour ended more than DURATION ago' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l keep-bytes -d 'Delete the oldest sealed segments when the total exceeds SIZE' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l keep-free -d 'Keep SIZE of the file system free: with --keep-age or --keep-bytes, delete the oldest segments first; otherwise stop storing until there is space; agents of a collector keep their rows until then. Without this option, 5 % of the file system, at most 1 GiB' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l collector -d 'Send rows to the `rocescope collect` at URL, such as `https://collector.example:4792`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l cert -d 'The agent\'s certificate (PEM); its first DNS name is the observer' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l key -d 'The key of the certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l ca -d 'CA certificate that signed the collector\'s certificate (PEM)' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l spool -d 'Directory for rows that the collector has not acknowledged yet' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l spool-bytes -d 'Maximum size of the spool; when it is full, the oldest rows are deleted' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -l all -d 'Probe all Ethernet interfaces that are up and have an address; with `--backend verbs`, only RDMA devices'
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -s q -l quiet -d 'Print only the summary'
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand probe" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand repair" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand repair" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand repair" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -s o -l output -d 'Format of the report; default: `text`, or nothing with `--html`' -r -f -a "text\t'Text for terminals'
markdown\t'Markdown for issues and wikis'
json\t'One JSON object'
csv\t'One table as CSV; see `--table`'"
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l table -d 'Table that `-o csv` prints' -r -f -a "flows\t'Largest flows'
groups\t'Traffic by what `--by` names'
connections\t'Connections with the most problems, one row for each direction'
pdcs\t'Packet delivery contexts of UET, those with the most losses first'
opcodes\t'All opcodes'
events\t'Most significant events of each kind'
windows\t'Windows, at most 1,000; neighbours are merged if there are more'
pairs\t'Pairs of NICs that probed each other'
sla\t'Service level of the probe mesh over time'
verdicts\t'Last verdict of each problem in the mesh'
links\t'Links of the mesh, summed over time'"
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l html -d 'Write a self-contained HTML page with charts' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l from -d 'Read only rows from this time on: `2026-11-21T02:30:09Z`, `12:00` (today), `-1h` (an hour ago) or `now`; in UTC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l to -d 'Read only rows before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l last -d 'Read only rows of the last DURATION, such as `10m`, before `--to` or before now' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l top -d 'Maximum number of rows of each list' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l filter -d 'Include only flows, connections and events that match EXPR, such as `host 10.0.0.1`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l by -d 'Group traffic by source, destination, queue pair or opcode' -r -f -a "src\t'Source address'
dst\t'Destination address'
qp\t'Destination address and queue pair'
opcode\t'Opcode'"
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l hosts -d 'Show the names that FILE gives to addresses, in the format of `/etc/hosts`, as `name (address)`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l observer -d 'Include only rows of this capture box' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand report" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand schema" -s o -l output -d 'Format of the schema' -r -f -a "table\t'Text tables'
json\t'One JSON object'
markdown\t'The page `docs/formats.md`'"
complete -c rocescope -n "__fish_rocescope_using_subcommand schema" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand schema" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand restore-vlan-offload" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand restore-vlan-offload" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand restore-vlan-offload" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand ship" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand ship" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand sql" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand sql" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l from -d 'Read only rows from this time on: `2026-11-21T02:30:09Z`, `12:00` (today), `-1h` (an hour ago) or `now`; in UTC' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l to -d 'Read only rows before this time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l last -d 'Read only rows of the last DURATION, such as `10m`, before `--to` or before now' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -s r -l read -d 'Capture files to play as one, in the order of time: pcap or pcapng, plain, gzip or zstd; or a directory of them; `-` for standard input' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l speed -d 'Playback speed of a file or dataset: 1 is as recorded, 10 is ten times as fast; `max` does not wait' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l at -d 'Start at the window of this time, such as `2026-01-01T09:30:00Z`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l filter -d 'Count only packets that match EXPR; for a dataset, show only rows that match' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l udp-port -d 'UDP destination port that carries RoCEv2; up to four' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l sort -d 'Sort flows by COLUMN at start, and in printed output' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l by -d 'Group traffic by source, destination, queue pair or opcode' -r -f -a "src\t'Source address'
dst\t'Destination address'
qp\t'Destination address and queue pair'
opcode\t'Opcode'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l hosts -d 'Show the names that FILE gives to addresses, in the format of `/etc/hosts`, as `name (address)`' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l fps -d 'Maximum number of screen updates per second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l theme -d 'Colour theme; default: `dark`, or `none` if the environment variable `NO_COLOR` is set' -r -f -a "dark\t'Colours for a dark terminal'
light\t'Colours for a light terminal'
none\t'No colours'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l bind -d 'Bind a key to an action, such as `quit=ctrl-q`; the help page (`?`) lists the keys of all actions' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l windows -d 'Print COUNT windows' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -s o -l output -d 'Format of the windows' -r -f -a "table\t'Text: totals, and the first rows of a table'
json\t'One line of JSON for each window, with the rows of every table'
jsonl\t'The same for every window until the end, without `--once`'
csv\t'All columns of a table as CSV (RFC 4180)'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l table -d 'Table for the formats `table` and `csv`; default: `flows`, or `pairs` if there are only probes' -r -f -a "flows\t'Top flows'
opcodes\t'Opcode mix'
connections\t'Each direction of each connection'
pdcs\t'Packet delivery contexts of UET'
events\t'Events'
windows\t'Totals of the window'
groups\t'Traffic by what `--by` names; default with `--by`'
pairs\t'Pairs of NICs, for a dataset with probes'
sla\t'Service level of the probe mesh'
verdicts\t'Problems of the mesh'
links\t'Links of the mesh'
host-ports\t'Ports of hosts, for a dataset with counters and live'
host-verdicts\t'Faults of hosts, for a dataset with verdicts about hosts'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l mode -d 'How frames are captured; `auto` tries native XDP, then generic XDP, then `af-packet`' -r -f -a "auto\t'First of the other modes that works'
native\t'XDP in the driver'
generic\t'XDP after the driver'
af-packet\t'Packet socket'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l direction -d 'Frames that arrive, that leave, or both; XDP sees arriving frames only, so `out` and `both` use packet sockets' -r -f -a "in\t'Frames that arrive'
out\t'Frames that this host sends'
both\t'All frames'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l verdict -d 'What happens to frames after XDP; `auto` drops them if nothing else uses the interface' -r -f -a "auto\t'Drop if the interface has no address, no master and no default route'
pass\t'Pass frames to the kernel'
drop\t'Drop frames'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l duration -d 'Stop after DURATION' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l vlan-offload -d 'VLAN offload of the NIC; `off` leaves tags in the frames while the capture runs' -r -f -a "keep\t'Leave it unchanged'
off\t'Leave tags in the frames'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l ring-bytes -d 'Memory for the XDP ring buffers of all CPUs; each buffer has 64 KiB to 32 MiB' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l metrics -d 'Serve Prometheus metrics on this address, such as 127.0.0.1:9464' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l metrics-flows -d 'Number of flows in the metrics: the largest of the last window' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l observer -d 'Name of this capture box in every row and file name' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l window -d 'Length of a window, in event time' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l lateness -d 'Wait DURATION for frames that arrive out of order before a window closes' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l top -d 'Maximum number of flows, connections and events in the summary' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l flow-rows -d 'Number of top flows of each window in the dataset' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l spread-rows -d 'Number of UDP source ports of sprayed directions of each window in the dataset, the largest directions first' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l exact-flows -d 'Maximum number of flows counted exactly, in a window and in total; sketches estimate the rest' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l flow-key -d 'Whether the UDP source port separates flows' -r -f -a "auto\t'The port, except in directions whose sender sprays packets over many ports'
port\t'The port, always'
direction\t'Addresses and destination QP alone'"
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l connection-memory -d 'Memory for the state of connections; at the limit, the packets of further ones are only counted' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l elephant -d 'Minimum rate of an elephant flow, in bits per second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l jitter-relative -d 'Minimum change between windows that counts as jitter, relative to the previous rate' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l jitter-absolute -d 'Minimum change between windows that counts as jitter, in bits per second' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -s i -l interface -d 'Interface to capture on; repeatable' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l connections -d 'Track connections on interfaces; for a file they are always tracked'
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l bytes -d 'Show rates in bytes per second instead of bits per second'
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l ascii -d 'Use only ASCII characters; automatic if the locale is not UTF-8'
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l mouse -d 'Select rows, headings and tabs with the mouse'
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -l once -d 'Print one window and exit; for a file or dataset, the first; with `--table host-verdicts`, the last of a dataset with the faults of all'
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand top" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and not __fish_seen_subcommand_from check show convert help" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and not __fish_seen_subcommand_from check show convert help" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and not __fish_seen_subcommand_from check show convert help" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and not __fish_seen_subcommand_from check show convert help" -f -a "check" -d 'Check whether a topology contradicts itself'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and not __fish_seen_subcommand_from check show convert help" -f -a "show" -d 'Print the nodes, tiers and links of a topology'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and not __fish_seen_subcommand_from check show convert help" -f -a "convert" -d 'Convert a topology to another format'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and not __fish_seen_subcommand_from check show convert help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from check" -l leave-out -d 'Leave out the links at ports that fit PATTERN, `PORT` or `NODE:PORT` with `*` for any characters, and the nodes that have no others' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from check" -s o -l output -d 'Format of the output' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from check" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from check" -l management -d 'Keep the links of LLDP neighbors at management ports, such as `mgmt0`, or `eth0` of a switch'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from check" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from show" -l leave-out -d 'Leave out the links at ports that fit PATTERN, `PORT` or `NODE:PORT` with `*` for any characters, and the nodes that have no others' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from show" -s o -l output -d 'Format of the output' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from show" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from show" -l management -d 'Keep the links of LLDP neighbors at management ports, such as `mgmt0`, or `eth0` of a switch'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from convert" -l leave-out -d 'Leave out the links at ports that fit PATTERN, `PORT` or `NODE:PORT` with `*` for any characters, and the nodes that have no others' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from convert" -l to -d 'Format to write' -r -f -a "toml\t'rocescope\'s own'
dot\t'Graphviz DOT, as PTM uses it'"
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from convert" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from convert" -l management -d 'Keep the links of LLDP neighbors at management ports, such as `mgmt0`, or `eth0` of a switch'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from convert" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from help" -f -a "check" -d 'Check whether a topology contradicts itself'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print the nodes, tiers and links of a topology'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from help" -f -a "convert" -d 'Convert a topology to another format'
complete -c rocescope -n "__fish_rocescope_using_subcommand topology; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand verify" -s o -l output -d 'Format of the result' -r -f -a "table\t'Text tables'
json\t'One JSON object'"
complete -c rocescope -n "__fish_rocescope_using_subcommand verify" -l config -d 'Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand verify" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "agent" -d 'Run what the configuration file asks for on this host, in one process: probes, paths, counters'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "capture" -d 'Capture from interfaces or a file: top flows, opcode mix, and a Parquet dataset'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "completions" -d 'Print the completion script for a shell'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "collect" -d 'Collect the rows of agents over the network into one dataset, and diagnose the mesh'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "compact" -d 'Join the small segments of a dataset into larger ones, once their hour is over'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "compare" -d 'Compare two datasets, or two times of one: what changed, the largest change first'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "collective" -d 'Read the steps of collectives and the telemetry of switches'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "config" -d 'Print, check or generate a configuration file'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "connections" -d 'Print loss, reordering, latency and congestion for each queue pair'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "control" -d 'Show and change the configuration of all agents and capture boxes'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "counters" -d 'Read what the RDMA devices and network interfaces of this host count'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "demo" -d 'Run the whole pipeline on generated traffic, without privileges or input'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "diagnose" -d 'Locate failures from the rows of a dataset'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "doctor" -d 'Check whether this machine can capture, and print how to fix what prevents it'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "extract" -d 'Copy the frames that match a filter to another capture file'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "generate" -d 'Generate deterministic RoCEv2 traffic from a scenario, with its ground truth'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "hostping" -d 'Locate the bottleneck inside a host from loopback tests of its NICs'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "man" -d 'Write the manual pages'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "merge" -d 'Merge the datasets of several capture boxes, hosts and agents'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "paths" -d 'Find the links that flows cross, and how unevenly they lie on them'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "probe" -d 'Probe between the NICs of this host: one-way loss and latency, and paths'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "repair" -d 'Seal the journals that a killed capture left in a dataset, and list unreadable files'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "report" -d 'Summarize a dataset as text, JSON, CSV or one HTML page with charts'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "schema" -d 'Print the tables of the dataset and their columns'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "restore-vlan-offload" -d 'Restore the VLAN offload of a NIC when standard input ends'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "ship" -d 'Copy the sealed segments of a dataset to an object store'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "sql" -d 'Query datasets with SQL, on disk or in an object store'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "top" -d 'Show flows, opcodes, connections and events in the terminal'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "topology" -d 'Check, print or convert the topology of a fabric'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "verify" -d 'Check every file of a dataset against its checksums, and its tables against each other'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from agent capture completions collect compact compare collective config connections control counters demo diagnose doctor extract generate hostping man merge paths probe repair report schema restore-vlan-offload ship sql top topology verify help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from collective" -f -a "import" -d 'Write steps of collectives and telemetry of switches to a dataset'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from collective" -f -a "follow" -d 'Write the steps of collectives to a dataset while jobs write their files'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "print" -d 'Print every setting in effect and its source'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "check" -d 'Validate the configuration file'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "template" -d 'Print a configuration file with every setting, its meaning and its default'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from control" -f -a "status" -d 'Print which agent and capture box runs which version, who refused one and why, and who is away'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from control" -f -a "apply" -d 'Put the configuration in FILE in force, as the next version'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from control" -f -a "diff" -d 'Print what would change if FILE were applied; refuse what `apply` refuses'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from control" -f -a "rollback" -d 'Put an earlier version in force, as the next version'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from diagnose" -f -a "hostmesh" -d 'Locate the failing NIC, link or switch from probes between hosts and their paths'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from diagnose" -f -a "hosts" -d 'Say whose fault it is, application, host, NIC, link or network, from the counters of hosts and captured traffic'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from diagnose" -f -a "hostping" -d 'Locate the abnormal link inside each host from its last loopback tests'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from diagnose" -f -a "collective" -d 'Find which step, flow and port made a collective slow'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from hostping" -f -a "topology" -d 'Draw the links of a host, and list what looks wrong without a test'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from hostping" -f -a "run" -d 'Measure each NIC with each endpoint of this host by loopback WRITEs, and locate the abnormal link'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from hostping" -f -a "diagnose" -d 'Locate the abnormal link of a host from loopback measurements'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from hostping" -f -a "baseline" -d 'Print the baseline of a model of hosts: the medians of healthy runs'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from paths" -f -a "flows" -d 'List the flows of a workload: from captures, datasets, sockets or queue pairs'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from paths" -f -a "sflow" -d 'Receive sFlow v5 datagrams of switches, and list the RoCEv2 flows in their samples'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from paths" -f -a "discover" -d 'Find the paths of flows: ask each switch for the egress port, hop by hop, over SSH'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from paths" -f -a "fim" -d 'Compute how unevenly flows lie on the links of each layer (Flow Imbalance Metric)'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from paths" -f -a "advise" -d 'Find source ports that would make the layers even, by asking the switches about other ports'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from paths" -f -a "compare" -d 'Compare the loads of links and the paths of two runs'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from topology" -f -a "check" -d 'Check whether a topology contradicts itself'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from topology" -f -a "show" -d 'Print the nodes, tiers and links of a topology'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and __fish_seen_subcommand_from topology" -f -a "convert" -d 'Convert a topology to another format'
