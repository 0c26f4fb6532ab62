#compdef rocescope

autoload -U is-at-least

_rocescope() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_rocescope_commands" \
"*::: :->rocescope" \
&& ret=0
    case $state in
    (rocescope)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-command-$line[1]:"
        case $line[1] in
            (agent)
_arguments "${_arguments_options[@]}" : \
'--observer=[Name of this host in every row; default\: its host name]:NAME:_default' \
'--duration=[Stop after DURATION]:DURATION:_default' \
'-o+[Format of the summary of probes]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the summary of probes]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--collector=[Send rows to the \`rocescope collect\` at URL, such as \`https\://collector.example\:4792\`]:URL:_default' \
'--cert=[The agent'\''s certificate (PEM); its first DNS name is the observer]:FILE:_files' \
'--key=[The key of the certificate (PEM)]:FILE:_files' \
'--ca=[CA certificate that signed the collector'\''s certificate (PEM)]:FILE:_files' \
'--spool=[Directory for rows that the collector has not acknowledged yet]:DIR:_files' \
'--spool-bytes=[Maximum size of the spool; when it is full, the oldest rows are deleted]:SIZE:_default' \
'--control-file=[Keep the configuration of the controller in FILE; default\: \`controlled.toml\` in the spool]:FILE:_files' \
'--window=[Take a configuration of the controller at the end of a window of DURATION]:DURATION:_default' \
'--flow-probes=[Maximum number of probes along paths of flows that the controller may request for one window, which other agents answer; 0\: none, and no answers]:COUNT:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-q[Print only summaries]' \
'--quiet[Print only summaries]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(capture)
_arguments "${_arguments_options[@]}" : \
'(-i --interface)*-r+[Capture files to read as one, in the order of time\: pcap or pcapng, plain, gzip or zstd; or a directory of them; \`-\` for standard input]:FILE:_files' \
'(-i --interface)*--read=[Capture files to read as one, in the order of time\: pcap or pcapng, plain, gzip or zstd; or a directory of them; \`-\` for standard input]:FILE:_files' \
'-c+[Stop after COUNT frames that match the filter; live, this uses a packet socket]:COUNT:_default' \
'--count=[Stop after COUNT frames that match the filter; live, this uses a packet socket]:COUNT:_default' \
'-w+[Write the frames that match the filter to this pcapng file; \`-\` for standard output; live, this uses a packet socket]:FILE:_files' \
'--write=[Write the frames that match the filter to this pcapng file; \`-\` for standard output; live, this uses a packet socket]:FILE:_files' \
'(-r --read --out --duration --keep-frames -c --count -w --write)--check=[Observe the port for SECONDS and judge it; writes no dataset]:SECONDS:_default' \
'-o+[Format of the summary, or of every window]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"
jsonl\:"A line of JSON for each window as it ends, and one for the summary"))' \
'--output=[Format of the summary, or of every window]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"
jsonl\:"A line of JSON for each window as it ends, and one for the summary"))' \
'--filter=[Count only packets that match EXPR, such as \`host 10.0.0.1 and not service cnp\`]:EXPR:_default' \
'--anonymize=[Anonymize IP addresses, preserving prefixes; KEY is 64 hexadecimal digits, or @ and the path of a file with them]:KEY:_default' \
'*--udp-port=[UDP destination port that carries RoCEv2; up to four]:PORT:_default' \
'(-r --read)--status-interval=[Print a line with rates, flows and losses to standard error every DURATION while a live capture runs; default\: 10 s on a terminal, otherwise no line]:DURATION:_default' \
'--hosts=[Show the names that FILE gives to addresses, in the format of \`/etc/hosts\`, as \`name (address)\`]:FILE:_default' \
'(-r --read)--mode=[How frames are captured; \`auto\` tries native XDP, then generic XDP, then \`af-packet\`]:MODE:((auto\:"First of the other modes that works"
native\:"XDP in the driver"
generic\:"XDP after the driver"
af-packet\:"Packet socket"))' \
'(-r --read)--direction=[Frames that arrive, that leave, or both; XDP sees arriving frames only, so \`out\` and \`both\` use packet sockets]:DIRECTION:((in\:"Frames that arrive"
out\:"Frames that this host sends"
both\:"All frames"))' \
'(-r --read)--verdict=[What happens to frames after XDP; \`auto\` drops them if nothing else uses the interface]:VERDICT:((auto\:"Drop if the interface has no address, no master and no default route"
pass\:"Pass frames to the kernel"
drop\:"Drop frames"))' \
'(-r --read)--duration=[Stop after DURATION]:DURATION:_default' \
'(-r --read)--vlan-offload=[VLAN offload of the NIC; \`off\` leaves tags in the frames while the capture runs]:VLAN_OFFLOAD:((keep\:"Leave it unchanged"
off\:"Leave tags in the frames"))' \
'(-r --read)--ring-bytes=[Memory for the XDP ring buffers of all CPUs; each buffer has 64 KiB to 32 MiB]:SIZE:_default' \
'(-r --read)--metrics=[Serve Prometheus metrics on this address, such as 127.0.0.1\:9464]:ADDRESS:_default' \
'(-r --read)--metrics-flows=[Number of flows in the metrics\: the largest of the last window]:COUNT:_default' \
'--out=[Write a Parquet dataset to this directory]:DIR:_files' \
'--segment-bytes=[Seal a segment when it reaches SIZE before compression]:SIZE:_default' \
'--segment-age=[Seal a segment when its first rows are older than DURATION]:DURATION:_default' \
'--keep-age=[Delete sealed segments, and recordings of a capture, whose hour ended more than DURATION ago]:DURATION:_default' \
'--keep-bytes=[Delete the oldest sealed segments when the total exceeds SIZE]:SIZE:_default' \
'--keep-free=[Keep SIZE of the file system free\: with --keep-age or --keep-bytes, delete the oldest segments first; otherwise stop storing until there is space; agents of a collector keep their rows until then. Without this option, 5 % of the file system, at most 1 GiB]:SIZE:_default' \
'--keep-frames=[Keep the headers of the last SECONDS of frames in memory, and write a pcapng file around each NAK, RNR NAK and jitter event; on interfaces, this uses packet sockets]:SECONDS:_default' \
'--keep-frames-dir=[Directory of the recordings; default\: \`_frames\` in the dataset]:DIR:_files' \
'--keep-frames-memory=[Memory for headers; when it is full, the oldest are overwritten early]:SIZE:_default' \
'--keep-frames-disk=[Maximum total size of the recordings; the oldest earlier ones are deleted to make room]:SIZE:_default' \
'--keep-frames-per-hour=[Start at most COUNT recordings per hour]:COUNT:_default' \
'--observer=[Name of this capture box in every row and file name]:NAME:_default' \
'--window=[Length of a window, in event time]:DURATION:_default' \
'--lateness=[Wait DURATION for frames that arrive out of order before a window closes]:DURATION:_default' \
'--top=[Maximum number of flows, connections and events in the summary]:COUNT:_default' \
'--flow-rows=[Number of top flows of each window in the dataset]:COUNT:_default' \
'--spread-rows=[Number of UDP source ports of sprayed directions of each window in the dataset, the largest directions first]:COUNT:_default' \
'--exact-flows=[Maximum number of flows counted exactly, in a window and in total; sketches estimate the rest]:COUNT:_default' \
'--flow-key=[Whether the UDP source port separates flows]:KEY:((auto\:"The port, except in directions whose sender sprays packets over many ports"
port\:"The port, always"
direction\:"Addresses and destination QP alone"))' \
'--connection-memory=[Memory for the state of connections; at the limit, the packets of further ones are only counted]:SIZE:_default' \
'--elephant=[Minimum rate of an elephant flow, in bits per second]:RATE:_default' \
'--jitter-relative=[Minimum change between windows that counts as jitter, relative to the previous rate]:RATIO:_default' \
'--jitter-absolute=[Minimum change between windows that counts as jitter, in bits per second]:RATE:_default' \
'(-r --read)--collector=[Take thresholds from the controller at URL, such as \`https\://collector.example\:4792\`]:URL:_default' \
'--cert=[The certificate of this capture box (PEM); its first DNS name is its name]:FILE:_files' \
'--key=[The key of the certificate (PEM)]:FILE:_files' \
'--ca=[CA certificate that signed the collector'\''s certificate (PEM)]:FILE:_files' \
'--control-file=[Keep the configuration of the controller in FILE]:FILE:_files' \
'(--anonymize)--spool=[Send rows for the analysis of hosts\: keep those in DIR that the collector has not acknowledged]:DIR:_files' \
'--spool-bytes=[Maximum size of the spool; when it is full, the oldest rows are deleted]:SIZE:_default' \
'--wire-rows=[Rows a window for the analysis of hosts, those with trouble first; the others are counted]:ROWS:_default' \
'--small-flows=[Number of flows below the elephant threshold, smallest first, along whose paths each window requests probes]:COUNT:_default' \
'--recordings=[Number of recordings an hour that agents may request, of flows of slow steps that pass this box; 0\: none]:COUNT:_default' \
'*-i+[Interface to capture on; repeatable]:IFACE:_default' \
'*--interface=[Interface to capture on; repeatable]:IFACE:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'(-r --read -i --interface)-D[List the interfaces\: state, speed, driver, XDP mode and RDMA device]' \
'(-r --read -i --interface)--list-interfaces[List the interfaces\: state, speed, driver, XDP mode and RDMA device]' \
'--connections[Track connections\: loss, reordering and round trips of every queue pair]' \
'--collectives[Write the steps of collectives to the table \`steps\`, with how long each waited for its receiver and its sender]' \
'--verify-icrc[Verify the ICRC of every packet]' \
'-q[Hide the progress bar and the status line]' \
'--quiet[Hide the progress bar and the status line]' \
'--no-sketches[Omit bitmaps and Count-Min tables from the dataset]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::words -- Count only packets that match this filter, as `--filter` does\: `host 10.0.0.1 and not service cnp`; more files or interfaces may precede it:_default' \
&& ret=0
;;
(completions)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
':shell -- The shell:(bash elvish fish powershell zsh)' \
&& ret=0
;;
(collect)
_arguments "${_arguments_options[@]}" : \
'--listen=[Listen on this address]:ADDRESS:_default' \
'--out=[Write the rows of all agents to the dataset in this directory]:DIR:_files' \
'--cert=[The collector'\''s certificate (PEM)]:FILE:_files' \
'--key=[The key of the certificate (PEM)]:FILE:_files' \
'--client-ca=[CA certificate that signs agents (PEM); an agent'\''s name is the first DNS name in its certificate]:FILE:_files' \
'--control-dir=[Be the controller too\: keep the versions of its configuration in DIR]:DIR:_files' \
'--control=[The first version of the controller'\''s configuration (TOML); later ones come with \`rocescope control apply\`]:FILE:_files' \
'--max-agents=[Maximum number of connected agents]:COUNT:_default' \
'--max-waiting=[Maximum size of the rows that wait to be written; above it, agents wait]:SIZE:_default' \
'--duration=[Stop after DURATION]:DURATION:_default' \
'--metrics=[Serve Prometheus metrics on this address, such as 127.0.0.1\:9465]:ADDRESS:_default' \
'--status=[Print a status line every DURATION]:DURATION:_default' \
'--observer=[Name of the collector in file names and in the rows of its diagnosis]:NAME:_default' \
'--segment-age=[Seal a segment when its first rows are older than DURATION]:DURATION:_default' \
'--keep-age=[Delete sealed segments, and recordings of a capture, whose hour ended more than DURATION ago]:DURATION:_default' \
'--keep-bytes=[Delete the oldest sealed segments when the total exceeds SIZE]:SIZE:_default' \
'--keep-free=[Keep SIZE of the file system free\: with --keep-age or --keep-bytes, delete the oldest segments first; otherwise stop storing until there is space; agents of a collector keep their rows until then. Without this option, 5 % of the file system, at most 1 GiB]:SIZE:_default' \
'--topology=[Nodes and their addresses (TOML); default\: each address is a node]:FILE:_files' \
'--lateness=[Analyze a window DURATION after its end, and again when rows of it that came later have stopped coming\: those of the last hour]:DURATION:_default' \
'--scale=[Divide the length of windows by FACTOR, for a mesh whose intervals were divided by it]:FACTOR:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--no-sync[Acknowledge rows before they are synced to disk; a power failure may lose some]' \
'-q[Print only errors and new problems]' \
'--quiet[Print only errors and new problems]' \
'--diagnose[Diagnose probes as \`diagnose hostmesh\` does, in windows of 20 s, and counters with rows of capture boxes as \`diagnose hosts\` does, in windows of 10 s\: print new problems, and write the tables \`sla\`, \`verdicts\`, \`links\` and \`host_verdicts\`]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(compact)
_arguments "${_arguments_options[@]}" : \
'--segment-bytes=[Join segments up to SIZE; those of half of it stay as they are]:SIZE:_default' \
'--settle=[Leave hours that ended less than DURATION ago\: rows may still come]:DURATION:_default' \
'-o+[Format of the result]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the result]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':dataset -- Dataset to compact:_files' \
&& ret=0
;;
(compare)
_arguments "${_arguments_options[@]}" : \
'--from=[Read only rows from this time on\: \`2026-11-21T02\:30\:09Z\`, \`12\:00\` (today), \`-1h\` (an hour ago) or \`now\`; in UTC]:TIME:_default' \
'--to=[Read only rows before this time]:TIME:_default' \
'(--from)--last=[Read only rows of the last DURATION, such as \`10m\`, before \`--to\` or before now]:DURATION:_default' \
'--with-from=[Read only rows of B from this time on, as in \`--from\`]:TIME:_default' \
'--with-to=[Read only rows of B before this time]:TIME:_default' \
'--observer=[Include only rows of this capture box]:NAME:_default' \
'--top=[Maximum number of changes of each table]:COUNT:_default' \
'-o+[Format of the comparison]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the comparison]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--hosts=[Show the names that FILE gives to addresses, in the format of \`/etc/hosts\`, as \`name (address)\`]:FILE:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':a -- Dataset of the first span, A:_files' \
'::b -- Dataset of the second span, B; default\: the same dataset, with `--with-from` and `--with-to`:_files' \
&& ret=0
;;
(collective)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_rocescope__subcmd__collective_commands" \
"*::: :->collective" \
&& ret=0

    case $state in
    (collective)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-collective-command-$line[1]:"
        case $line[1] in
            (import)
_arguments "${_arguments_options[@]}" : \
'--format=[Format of the input]:FORMAT:((vedrfolnir\:"The folder of a run of Vedrfolnir'\''s simulator\: \`fct.txt\`, \`telemetry_SWITCH.txt\`, \`pfc.txt\`, \`topology.txt\`"
comma\:"\`CoMMA\`'\''s JSON\: a file for each rank"
nccl-profiler\:"The trace of NCCL'\''s example profiler\: a file for each process"
nccl-inspector\:"Lines of NCCL Inspector\: a file for each process"
flight-recorder\:"JSON dumps of \`PyTorch\`'\''s flight recorder\: a file for each rank, whose name ends in the rank"
taps\:"Captures of ports of switches, on both sides of a queue\: \`taps.toml\` names them"))' \
'--out=[Dataset to write the tables \`steps\` and \`telemetry\` to]:DATASET:_files' \
'--collective=[Name of the collective in the rows, for formats that have none; default\: the name of the folder]:NAME:_default' \
'--observer=[Name of the import in the rows]:NAME:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':input -- The folder to read, or a single file:_files' \
&& ret=0
;;
(follow)
_arguments "${_arguments_options[@]}" : \
'--format=[Format of the files]:FORMAT:((comma\:"\`CoMMA\`'\''s JSON"
nccl-profiler\:"The trace of NCCL'\''s example profiler"
nccl-inspector\:"Lines of NCCL Inspector"
flight-recorder\:"JSON dumps of \`PyTorch\`'\''s flight recorder"))' \
'*--steps=[Files that jobs write, or folders of them; what they have at the start is not read again]:PATH:_files' \
'--out=[Dataset to write the table \`steps\` to; an agent sends its rows to the collector]:DATASET:_files' \
'--observer=[Name in the rows; default\: the host name]:NAME:_default' \
'--duration=[Stop after DURATION]:DURATION:_default' \
'--ranks=[Watch the steps\: FILE has a line \`RANK AGENT ADDRESS\` for each rank. Without it an agent only sends steps]:FILE:_files' \
'--threshold=[Ask when a round trip along the path of a step takes more than PERCENT of the shortest in the last minutes]:PERCENT:_default' \
'--min-delay=[A round trip is slow only if it takes longer than the shortest by DURATION\: timestamps of hosts vary]:DURATION:_default' \
'--detections=[Maximum number of detections in each step, without those that agents of other hosts pass on]:COUNT:_default' \
'--interval=[Time between two probes along the path of a step]:DURATION:_default' \
'--burst=[Number of probes in the burst along the path of a slow step; the budget is that of \`flow-probes\`]:COUNT:_default' \
'--source-port=[UDP source port of probes for steps whose port is unknown\: switches may route them by another path]:PORT:_default' \
'--max-paths=[Maximum number of paths that are probed at a time]:COUNT:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__collective__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-collective-help-command-$line[1]:"
        case $line[1] in
            (import)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(follow)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(config)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_rocescope__subcmd__config_commands" \
"*::: :->config" \
&& ret=0

    case $state in
    (config)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-config-command-$line[1]:"
        case $line[1] in
            (print)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(check)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(template)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__config__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-config-help-command-$line[1]:"
        case $line[1] in
            (print)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(check)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(template)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(connections)
_arguments "${_arguments_options[@]}" : \
'--from=[Read only rows from this time on\: \`2026-11-21T02\:30\:09Z\`, \`12\:00\` (today), \`-1h\` (an hour ago) or \`now\`; in UTC]:TIME:_default' \
'--to=[Read only rows before this time]:TIME:_default' \
'(--from)--last=[Read only rows of the last DURATION, such as \`10m\`, before \`--to\` or before now]:DURATION:_default' \
'(-i --interface --from --to --last)*-r+[Capture files to read as one, in the order of time\: pcap or pcapng, plain, gzip or zstd; or a directory of them; \`-\` for standard input]:FILE:_files' \
'(-i --interface --from --to --last)*--read=[Capture files to read as one, in the order of time\: pcap or pcapng, plain, gzip or zstd; or a directory of them; \`-\` for standard input]:FILE:_files' \
'--hosts=[Show the names that FILE gives to addresses, in the format of \`/etc/hosts\`, as \`name (address)\`]:FILE:_default' \
'--filter=[Print only connections with a direction that matches EXPR, such as \`lost_gaps > 0 or qp 17\`]:EXPR:_default' \
'-o+[Format of the output]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the output]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'*--udp-port=[UDP destination port that carries RoCEv2; up to four]:PORT:_default' \
'(-r --read)--mode=[How frames are captured; \`auto\` tries native XDP, then generic XDP, then \`af-packet\`]:MODE:((auto\:"First of the other modes that works"
native\:"XDP in the driver"
generic\:"XDP after the driver"
af-packet\:"Packet socket"))' \
'(-r --read)--direction=[Frames that arrive, that leave, or both; XDP sees arriving frames only, so \`out\` and \`both\` use packet sockets]:DIRECTION:((in\:"Frames that arrive"
out\:"Frames that this host sends"
both\:"All frames"))' \
'(-r --read)--verdict=[What happens to frames after XDP; \`auto\` drops them if nothing else uses the interface]:VERDICT:((auto\:"Drop if the interface has no address, no master and no default route"
pass\:"Pass frames to the kernel"
drop\:"Drop frames"))' \
'(-r --read)--duration=[Stop after DURATION]:DURATION:_default' \
'(-r --read)--vlan-offload=[VLAN offload of the NIC; \`off\` leaves tags in the frames while the capture runs]:VLAN_OFFLOAD:((keep\:"Leave it unchanged"
off\:"Leave tags in the frames"))' \
'(-r --read)--ring-bytes=[Memory for the XDP ring buffers of all CPUs; each buffer has 64 KiB to 32 MiB]:SIZE:_default' \
'(-r --read)--metrics=[Serve Prometheus metrics on this address, such as 127.0.0.1\:9464]:ADDRESS:_default' \
'(-r --read)--metrics-flows=[Number of flows in the metrics\: the largest of the last window]:COUNT:_default' \
'--observer=[Name of this capture box in every row and file name]:NAME:_default' \
'--window=[Length of a window, in event time]:DURATION:_default' \
'--lateness=[Wait DURATION for frames that arrive out of order before a window closes]:DURATION:_default' \
'--top=[Maximum number of flows, connections and events in the summary]:COUNT:_default' \
'--flow-rows=[Number of top flows of each window in the dataset]:COUNT:_default' \
'--spread-rows=[Number of UDP source ports of sprayed directions of each window in the dataset, the largest directions first]:COUNT:_default' \
'--exact-flows=[Maximum number of flows counted exactly, in a window and in total; sketches estimate the rest]:COUNT:_default' \
'--flow-key=[Whether the UDP source port separates flows]:KEY:((auto\:"The port, except in directions whose sender sprays packets over many ports"
port\:"The port, always"
direction\:"Addresses and destination QP alone"))' \
'--connection-memory=[Memory for the state of connections; at the limit, the packets of further ones are only counted]:SIZE:_default' \
'--elephant=[Minimum rate of an elephant flow, in bits per second]:RATE:_default' \
'--jitter-relative=[Minimum change between windows that counts as jitter, relative to the previous rate]:RATIO:_default' \
'--jitter-absolute=[Minimum change between windows that counts as jitter, in bits per second]:RATE:_default' \
'(--from --to --last)*-i+[Interface to capture on; repeatable]:IFACE:_default' \
'(--from --to --last)*--interface=[Interface to capture on; repeatable]:IFACE:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-q[Hide the progress bar]' \
'--quiet[Hide the progress bar]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'::dataset -- Dataset to read:_files' \
'*::command -- Run COMMAND, stop when it exits, and exit with its status:_default' \
&& ret=0
;;
(control)
_arguments "${_arguments_options[@]}" : \
'--collector=[Ask the controller at URL, such as \`https\://collector.example\:4792\`]:URL:_default' \
'--cert=[The operator'\''s certificate (PEM); its first DNS name is the operator'\''s name]:FILE:_files' \
'--key=[The key of the certificate (PEM)]:FILE:_files' \
'--ca=[CA certificate that signed the collector'\''s certificate (PEM)]:FILE:_files' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_rocescope__subcmd__control_commands" \
"*::: :->control" \
&& ret=0

    case $state in
    (control)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-control-command-$line[1]:"
        case $line[1] in
            (status)
_arguments "${_arguments_options[@]}" : \
'-o+[Format of the status]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the status]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--collector=[Ask the controller at URL, such as \`https\://collector.example\:4792\`]:URL:_default' \
'--cert=[The operator'\''s certificate (PEM); its first DNS name is the operator'\''s name]:FILE:_files' \
'--key=[The key of the certificate (PEM)]:FILE:_files' \
'--ca=[CA certificate that signed the collector'\''s certificate (PEM)]:FILE:_files' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(apply)
_arguments "${_arguments_options[@]}" : \
'--collector=[Ask the controller at URL, such as \`https\://collector.example\:4792\`]:URL:_default' \
'--cert=[The operator'\''s certificate (PEM); its first DNS name is the operator'\''s name]:FILE:_files' \
'--key=[The key of the certificate (PEM)]:FILE:_files' \
'--ca=[CA certificate that signed the collector'\''s certificate (PEM)]:FILE:_files' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--unchecked[Apply settings that this version of rocescope does not know; members check them]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
':file -- The controller'\''s configuration (TOML):_files' \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
'--collector=[Ask the controller at URL, such as \`https\://collector.example\:4792\`]:URL:_default' \
'--cert=[The operator'\''s certificate (PEM); its first DNS name is the operator'\''s name]:FILE:_files' \
'--key=[The key of the certificate (PEM)]:FILE:_files' \
'--ca=[CA certificate that signed the collector'\''s certificate (PEM)]:FILE:_files' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--unchecked[Compare settings that this version of rocescope does not know]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
':file -- The controller'\''s configuration (TOML):_files' \
&& ret=0
;;
(rollback)
_arguments "${_arguments_options[@]}" : \
'--collector=[Ask the controller at URL, such as \`https\://collector.example\:4792\`]:URL:_default' \
'--cert=[The operator'\''s certificate (PEM); its first DNS name is the operator'\''s name]:FILE:_files' \
'--key=[The key of the certificate (PEM)]:FILE:_files' \
'--ca=[CA certificate that signed the collector'\''s certificate (PEM)]:FILE:_files' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
'::number -- The version; default\: the one before that in force:_default' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__control__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-control-help-command-$line[1]:"
        case $line[1] in
            (status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(apply)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rollback)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(counters)
_arguments "${_arguments_options[@]}" : \
'--interval=[Time between two reads]:DURATION:_default' \
'(--once)--duration=[Stop after DURATION]:DURATION:_default' \
'-o+[Format\: a line for each port and read; with \`--once\`, a line for each counter. JSON\: an array for each read, of all counters with \`--once\`, otherwise of those that changed]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format\: a line for each port and read; with \`--once\`, a line for each counter. JSON\: an array for each read, of all counters with \`--once\`, otherwise of those that changed]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'*--device=[Read only devices whose name matches PATTERN, such as \`mlx5_*\`; \`host\` is the host itself]:PATTERN:_default' \
'*--metric=[Read only counters whose metric or name matches PATTERN, such as \`*cnp*\`]:PATTERN:_default' \
'*-i+[Also read all statistics that the driver of this network interface has]:IFACE:_default' \
'*--interface=[Also read all statistics that the driver of this network interface has]:IFACE:_default' \
'--sysfs-root=[Read a copy of \`/sys\` in DIR, and nothing else of this host]:DIR:_files' \
'--proc-root=[Read a copy of \`/proc\` in DIR]:DIR:_files' \
'--ethtool-root=[Read the output of \`ethtool -S IFACE\` in DIR/IFACE, instead of asking the driver]:DIR:_files' \
'(--once)--metrics=[Serve Prometheus metrics on this address, such as 127.0.0.1\:9466]:ADDRESS:_default' \
'--observer=[Name of this host in every row and file name; default\: its host name]:NAME:_default' \
'(--once)--out=[Write a Parquet dataset to this directory\: counters that changed]:DIR:_files' \
'--refresh=[Write unchanged counters again after DURATION]:DURATION:_default' \
'--segment-age=[Seal a segment when its first rows are older than DURATION]:DURATION:_default' \
'--keep-age=[Delete sealed segments, and recordings of a capture, whose hour ended more than DURATION ago]:DURATION:_default' \
'--keep-bytes=[Delete the oldest sealed segments when the total exceeds SIZE]:SIZE:_default' \
'--keep-free=[Keep SIZE of the file system free\: with --keep-age or --keep-bytes, delete the oldest segments first; otherwise stop storing until there is space; agents of a collector keep their rows until then. Without this option, 5 % of the file system, at most 1 GiB]:SIZE:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--once[Read once and print every value]' \
'(--once --metric)--queue-pairs[Print the queue pairs of every device, and the process that created each; with \`--out\` and in an agent, write those that are new, changed or gone at every read]' \
'-q[Print nothing while rows are written to a dataset]' \
'--quiet[Print nothing while rows are written to a dataset]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(demo)
_arguments "${_arguments_options[@]}" : \
'--out=[Directory of the dataset; replaces the dataset of an earlier demo]:DIR:_files' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(diagnose)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_rocescope__subcmd__diagnose_commands" \
"*::: :->diagnose" \
&& ret=0

    case $state in
    (diagnose)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-diagnose-command-$line[1]:"
        case $line[1] in
            (hostmesh)
_arguments "${_arguments_options[@]}" : \
'--from=[Read only rows from this time on\: \`2026-11-21T02\:30\:09Z\`, \`12\:00\` (today), \`-1h\` (an hour ago) or \`now\`; in UTC]:TIME:_default' \
'--to=[Read only rows before this time]:TIME:_default' \
'(--from)--last=[Read only rows of the last DURATION, such as \`10m\`, before \`--to\` or before now]:DURATION:_default' \
'-o+[Format of the diagnosis]:OUTPUT:((text\:"Text, one line for each problem"
json\:"One JSON object\: problems, and the rows of \`verdicts\` and \`sla\`"))' \
'--output=[Format of the diagnosis]:OUTPUT:((text\:"Text, one line for each problem"
json\:"One JSON object\: problems, and the rows of \`verdicts\` and \`sla\`"))' \
'--topology=[Nodes and their addresses (TOML); default\: each address is a node]:FILE:_files' \
'--hosts=[Show the names that FILE gives to addresses, in the format of \`/etc/hosts\`, as \`name (address)\`]:FILE:_default' \
'--window=[Length of a window]:DURATION:_default' \
'--sticky=[Treat a NIC as anomalous for DURATION after its anomalous window]:DURATION:_default' \
'--scale=[Divide \`--window\` and \`--sticky\` by FACTOR, for a mesh whose intervals were divided by it]:FACTOR:_default' \
'--most-ignored=[Ignore switch problems with at most COUNT drops in a window]:COUNT:_default' \
'--observer=[Name of the analyzer in the rows it writes]:NAME:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--write[Write the tables \`sla\`, \`verdicts\` and \`links\` to the dataset]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':dataset -- Dataset with the tables `probes` and `paths`, as `rocescope probe` writes them:_files' \
&& ret=0
;;
(hosts)
_arguments "${_arguments_options[@]}" : \
'--from=[Read only rows from this time on\: \`2026-11-21T02\:30\:09Z\`, \`12\:00\` (today), \`-1h\` (an hour ago) or \`now\`; in UTC]:TIME:_default' \
'--to=[Read only rows before this time]:TIME:_default' \
'(--from)--last=[Read only rows of the last DURATION, such as \`10m\`, before \`--to\` or before now]:DURATION:_default' \
'-o+[Format of the diagnosis]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the diagnosis]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--hosts=[Show the names that FILE gives to addresses, in the format of \`/etc/hosts\`, as \`name (address)\`]:FILE:_default' \
'--window=[Length of a window; counters should be read at least as often]:DURATION:_default' \
'--observer=[Name of the analyzer in the rows it writes]:NAME:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--write[Write the table \`host_verdicts\` to the dataset]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':dataset -- Dataset with the table `counters` of the hosts, and the tables of a capture:_files' \
&& ret=0
;;
(hostping)
_arguments "${_arguments_options[@]}" : \
'--from=[Read only rows from this time on\: \`2026-11-21T02\:30\:09Z\`, \`12\:00\` (today), \`-1h\` (an hour ago) or \`now\`; in UTC]:TIME:_default' \
'--to=[Read only rows before this time]:TIME:_default' \
'(--from)--last=[Read only rows of the last DURATION, such as \`10m\`, before \`--to\` or before now]:DURATION:_default' \
'--observer=[Include only this host]:NAME:_default' \
'--rule=[Threshold\: \`seed\` (80 % of the baseline), \`superbench\` (95 %), or Azure'\''s figure of a model\: \`azure-a100\`, \`azure-h100\`, \`azure-h200\`, \`azure-mi300x\`, \`azure-hbv4\`, \`azure-hbv3\`, \`azure-v100\`]:NAME:_default' \
'(--rule)--min-ratio=[Share of the baseline below which a test is abnormal, instead of \`--rule\`\: \`0.9\`]:SHARE:_default' \
'-o+[Format of the diagnosis]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the diagnosis]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':dataset -- Dataset with the table `loopback`, as `rocescope hostping diagnose --out` writes it:_files' \
&& ret=0
;;
(collective)
_arguments "${_arguments_options[@]}" : \
'--from=[Read only rows from this time on\: \`2026-11-21T02\:30\:09Z\`, \`12\:00\` (today), \`-1h\` (an hour ago) or \`now\`; in UTC]:TIME:_default' \
'--to=[Read only rows before this time]:TIME:_default' \
'(--from)--last=[Read only rows of the last DURATION, such as \`10m\`, before \`--to\` or before now]:DURATION:_default' \
'--mode=[Rules of the analysis]:MODE:((paper\:"As the paper of Vedrfolnir has it"
authors\:"As the program of Vedrfolnir'\''s authors computes, to the digit"))' \
'*--reading=[How to read the paper where its text leaves a choice\: \`shares=printed\`, for example; docs/collectives.md has them]:NAME=VALUE:(shares=downstream shares=printed shares=upstream spread=sum spread=max excess=clipped excess=signed excess=execution epochs=both epochs=current)' \
'--nccl-debug=[Name the ranks of captured steps\: log of NCCL with \`NCCL_DEBUG=INFO\` and \`NCCL_DEBUG_SUBSYS=INIT,NET\`, or a folder of such logs]:PATH:_files' \
'--collective=[The collective to analyze; default\: the one that took longest]:NAME:_default' \
'-o+[Format of the result]:OUTPUT:((table\:"Text"
json\:"One JSON object"
dot\:"The critical path and the provenance graphs for Graphviz"))' \
'--output=[Format of the result]:OUTPUT:((table\:"Text"
json\:"One JSON object"
dot\:"The critical path and the provenance graphs for Graphviz"))' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':dataset -- Dataset with the tables `steps` and `telemetry`, as `rocescope collective import` writes them:_files' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__diagnose__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-diagnose-help-command-$line[1]:"
        case $line[1] in
            (hostmesh)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(hosts)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(hostping)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(collective)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(doctor)
_arguments "${_arguments_options[@]}" : \
'*-i+[Interface to check; default\: all except the loopback]:IFACE:_default' \
'*--interface=[Interface to check; default\: all except the loopback]:IFACE:_default' \
'-o+[Format of the findings]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the findings]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--try[Attach an XDP program that passes every frame, and detach it immediately]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(extract)
_arguments "${_arguments_options[@]}" : \
'*-r+[Capture files to read as one, in the order of time\: pcap or pcapng, plain, gzip or zstd; or a directory of them; \`-\` for standard input]:FILE:_files' \
'*--read=[Capture files to read as one, in the order of time\: pcap or pcapng, plain, gzip or zstd; or a directory of them; \`-\` for standard input]:FILE:_files' \
'-w+[pcapng file to write; \`-\` for standard output]:FILE:_files' \
'--write=[pcapng file to write; \`-\` for standard output]:FILE:_files' \
'--filter=[Copy only packets that match EXPR, such as \`qp 17 and opcode *ACKNOWLEDGE*\`]:EXPR:_default' \
'*--udp-port=[UDP destination port that carries RoCEv2; up to four]:PORT:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-q[Hide the progress bar]' \
'--quiet[Hide the progress bar]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
'*::words -- Copy only packets that match this filter, as `--filter` does; more files may precede it:_default' \
&& ret=0
;;
(generate)
_arguments "${_arguments_options[@]}" : \
'(--iface)-w+[Capture file to write (pcap, nanoseconds); the ground truth goes to \`FILE.truth.json\`]:FILE:_files' \
'(--iface)--write=[Capture file to write (pcap, nanoseconds); the ground truth goes to \`FILE.truth.json\`]:FILE:_files' \
'--seed=[Seed of the random numbers; the same seed gives the same bytes]:SEED:_default' \
'--snaplen=[Truncate each frame to BYTES]:BYTES:_default' \
'--iface=[Interface to send on, at the times of the scenario unless a rate is given]:IFACE:_default' \
'--pps=[Repeat the first 16,384 frames of the scenario at RATE frames per second]:RATE:_default' \
'--count=[Stop after COUNT frames]:COUNT:_default' \
'--duration=[Stop after DURATION]:DURATION:_default' \
'--by=[How frames are sent; \`auto\` selects live frames at 50,000 frames per second and above]:BY:((auto\:"Select by the rate and size of the frames"
live\:"XDP live frames\: the kernel makes packets, an XDP program fills them; uses a whole core"
packet\:"Packet socket"))' \
'-o+[Format of the result]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the result]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'(--pps)--full-speed[Repeat the first 16,384 frames of the scenario as fast as the kernel accepts them]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':scenario -- Scenario file (TOML), or a built-in class of traffic such as `spray-loss`; `docs/scenarios.md` explains them:_files' \
&& ret=0
;;
(hostping)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_rocescope__subcmd__hostping_commands" \
"*::: :->hostping" \
&& ret=0

    case $state in
    (hostping)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-hostping-command-$line[1]:"
        case $line[1] in
            (topology)
_arguments "${_arguments_options[@]}" : \
'--topology=[Topology of the host\: XML of \`NCCL_TOPO_DUMP_FILE\`, XML of \`lstopo --of xml\`, or the text of \`nvidia-smi topo -m\`]:FILE:_files' \
'--sysfs-root=[Read the topology from DIR instead of \`/sys\` of this host]:DIR:_files' \
'-o+[Format of the topology]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the topology]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(run)
_arguments "${_arguments_options[@]}" : \
'--topology=[Topology of the host\: XML of \`NCCL_TOPO_DUMP_FILE\`, XML of \`lstopo --of xml\`, or the text of \`nvidia-smi topo -m\`]:FILE:_files' \
'--sysfs-root=[Read the topology from DIR instead of \`/sys\` of this host]:DIR:_files' \
'*--nic=[NICs to test; default\: all]:NIC:_default' \
'*--endpoint=[Endpoints to test, such as \`mem0\` or \`GPU3\`; default\: all]:NAME:_default' \
'--backend=[What runs the tests]:BACKEND:((verbs\:"Queue pairs of the RDMA devices"
replay\:"Others'\'' measurements (\`--replay\`)"
simulated\:"A simulated host with the topology (\`--slow\`)"))' \
'*--replay=[Measurements to replay\: matrices as text, or the output of perftest or SuperBench]:FILE:_default' \
'*--slow=[Links of the simulated host and what each carries, as a share of the rate of the NICs\: \`GPU0 <-> PCIe switch 0=0.1\`]:A <-> B=SHARE:_default' \
'--max-time=[Stop after this time of tests]:DURATION:_default' \
'--max-bytes=[Stop after the tests have written this many bytes]:SIZE:_default' \
'--every=[Run again at this interval, when the host is idle]:DURATION:_default' \
'--idle-for=[How long all NICs must be idle before a run]:DURATION:_default' \
'--on-alarm=[Also test a busy host when a NIC pauses the switch or discards packets, at most once in DURATION]:DURATION:_default' \
'--duration=[Stop after DURATION]:DURATION:_default' \
'--counters-root=[Read the counters of the NICs below DIR instead of \`/sys\`]:DIR:_files' \
'--baseline=[Measurements of a healthy host of the same model, or their medians; default\: compare the host with itself]:FILE:_default' \
'--rule=[Threshold\: \`seed\` (80 % of the baseline), \`superbench\` (95 %), or Azure'\''s figure of a model\: \`azure-a100\`, \`azure-h100\`, \`azure-h200\`, \`azure-mi300x\`, \`azure-hbv4\`, \`azure-hbv3\`, \`azure-v100\`]:NAME:_default' \
'(--rule)--min-ratio=[Share of the baseline below which a test is abnormal, instead of \`--rule\`\: \`0.9\`]:SHARE:_default' \
'--out=[Write the tests to the table \`loopback\` of this dataset]:DATASET:_files' \
'--observer=[Name of the host in the rows; default\: its host name]:NAME:_default' \
'-o+[Format of the diagnosis]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the diagnosis]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--plan[Print which tests would run, how long and with how many bytes, and run none]' \
'--force[Test although others use the NICs\: short tests of bandwidth, which are compared with each other]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(diagnose)
_arguments "${_arguments_options[@]}" : \
'--topology=[Topology of the host\: XML of \`NCCL_TOPO_DUMP_FILE\`, XML of \`lstopo --of xml\`, or the text of \`nvidia-smi topo -m\`]:FILE:_files' \
'--sysfs-root=[Read the topology from DIR instead of \`/sys\` of this host]:DIR:_files' \
'*--matrix=[Measurements\: matrices as text, or the output of perftest or SuperBench; \`NIC\:ENDPOINT=FILE\` names what a file of perftest measured]:FILE:_default' \
'--baseline=[Measurements of a healthy host of the same model, or their medians; default\: compare the host with itself]:FILE:_default' \
'--node=[The host, if the measurements are of several]:NAME:_default' \
'--rule=[Threshold\: \`seed\` (80 % of the baseline), \`superbench\` (95 %), or Azure'\''s figure of a model\: \`azure-a100\`, \`azure-h100\`, \`azure-h200\`, \`azure-mi300x\`, \`azure-hbv4\`, \`azure-hbv3\`, \`azure-v100\`]:NAME:_default' \
'(--rule)--min-ratio=[Share of the baseline below which a test is abnormal, instead of \`--rule\`\: \`0.9\`]:SHARE:_default' \
'*--busy=[NICs that carried traffic during the tests, or \`all\`]:NIC:_default' \
'--out=[Write the tests to the table \`loopback\` of this dataset]:DATASET:_files' \
'--observer=[Name of the host in the rows; default\: \`--node\`, or else the name of this host]:NAME:_default' \
'-o+[Format of the diagnosis]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the diagnosis]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(baseline)
_arguments "${_arguments_options[@]}" : \
'--topology=[Topology of the host\: XML of \`NCCL_TOPO_DUMP_FILE\`, XML of \`lstopo --of xml\`, or the text of \`nvidia-smi topo -m\`]:FILE:_files' \
'--sysfs-root=[Read the topology from DIR instead of \`/sys\` of this host]:DIR:_files' \
'*--matrix=[Healthy runs\: each file is a run, or several if it names hosts]:FILE:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__hostping__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-hostping-help-command-$line[1]:"
        case $line[1] in
            (topology)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(run)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(diagnose)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(baseline)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(man)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
':out -- Directory for the pages, one for each command; created if missing:_files' \
&& ret=0
;;
(merge)
_arguments "${_arguments_options[@]}" : \
'--from=[Read only rows from this time on\: \`2026-11-21T02\:30\:09Z\`, \`12\:00\` (today), \`-1h\` (an hour ago) or \`now\`; in UTC]:TIME:_default' \
'--to=[Read only rows before this time]:TIME:_default' \
'(--from)--last=[Read only rows of the last DURATION, such as \`10m\`, before \`--to\` or before now]:DURATION:_default' \
'--out=[Directory of the merged dataset]:DIR:_files' \
'--observer=[Name of the observer in the merged rows and file names]:NAME:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
'*::datasets -- Datasets of captures, counters and probes; captures need the same windows, thresholds and sketches, and a packet that passed two boxes counts in both:_files' \
&& ret=0
;;
(paths)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_rocescope__subcmd__paths_commands" \
"*::: :->paths" \
&& ret=0

    case $state in
    (paths)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-paths-command-$line[1]:"
        case $line[1] in
            (flows)
_arguments "${_arguments_options[@]}" : \
'*--flows=[List of flows as JSON\: \`\[{"src"\: "10.0.0.1", "dst"\: "10.0.1.1", "src_port"\: 49152}, …\]\`, or what \`paths flows -o json\` prints]:FILE:_files' \
'*--dataset=[Dataset\: the flows of its table \`flows\`]:DATASET:_files' \
'*-r+[Capture files\: the flows of their packets]:FILE:_files' \
'*--read=[Capture files\: the flows of their packets]:FILE:_files' \
'*--ss=[Sockets of a server\: what \`ss -tun\` prints on it]:FILE:_files' \
'--rdma=[Directory of SERVER.json with the queue pairs of each server, as docs/paths.md describes]:DIR:_files' \
'--filter=[Keep only flows of the dataset and the capture files that match EXPR, such as \`net 10.1.0.0/16\`]:EXPR:_default' \
'--pairs=[Keep only the flows of these server pairs\: lines of \`SRC DST \[FLOWS\]\`, hosts of the topology or addresses]:FILE:_files' \
'--from=[Read only rows from this time on\: \`2026-11-21T02\:30\:09Z\`, \`12\:00\` (today), \`-1h\` (an hour ago) or \`now\`; in UTC]:TIME:_default' \
'--to=[Read only rows before this time]:TIME:_default' \
'(--from)--last=[Read only rows of the last DURATION, such as \`10m\`, before \`--to\` or before now]:DURATION:_default' \
'--topology=[Topology\: its hosts may be named in \`--pairs\`]:FILE:_files' \
'-o+[Format of the list]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the list]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--hosts=[Show the names that FILE gives to addresses, in the format of \`/etc/hosts\`, as \`name (address)\`]:FILE:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(sflow)
_arguments "${_arguments_options[@]}" : \
'-l+[Address and UDP port to receive datagrams at]:ADDR:PORT:_default' \
'--listen=[Address and UDP port to receive datagrams at]:ADDR:PORT:_default' \
'--duration=[Stop after DURATION; default\: at Ctrl-C]:DURATION:_default' \
'*--udp-port=[UDP destination port that carries RoCEv2; up to four]:PORT:_default' \
'-o+[Format of the list]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the list]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--hosts=[Show the names that FILE gives to addresses, in the format of \`/etc/hosts\`, as \`name (address)\`]:FILE:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(discover)
_arguments "${_arguments_options[@]}" : \
'--topology=[Topology, in any format that \`topology show\` reads]:FILE:_files' \
'--driver=[Driver of switches for which the topology has none\: linux, eos, cumulus, sonic, nxos, junos, or a TOML file]:NAME:_default' \
'--host-driver=[Driver of hosts for which the topology has none; default\: hosts with one link are not asked]:NAME:_default' \
'--mode=[How flows are traced]:MODE:((baseline\:"One flow after the other, new connections for each"
persistent\:"One flow after the other, connections stay open"
parallel\:"All flows at once"))' \
'--threads=[Questions at the same time]:COUNT:_default' \
'--sessions=[Sessions with a device at the same time; each runs one command at a time]:COUNT:_default' \
'--time-limit=[Wait for the answer to a command for this long]:DURATION:_default' \
'--connect-limit=[Wait for a device to connect and log in for this long]:DURATION:_default' \
'--user=[User on the devices; default\: as the SSH client is configured]:NAME:_default' \
'--identity=[Private key; default\: as the SSH client is configured, and its agent]:FILE:_files' \
'--known-hosts=[Host keys of the devices; default\: as the SSH client is configured]:FILE:_files' \
'--password-file=[File whose first line is the password]:FILE:_files' \
'--ssh-config=[Configuration of the SSH client]:FILE:_files' \
'*--flows=[List of flows as JSON\: \`\[{"src"\: "10.0.0.1", "dst"\: "10.0.1.1", "src_port"\: 49152}, …\]\`, or what \`paths flows -o json\` prints]:FILE:_files' \
'*--dataset=[Dataset\: the flows of its table \`flows\`]:DATASET:_files' \
'*-r+[Capture files\: the flows of their packets]:FILE:_files' \
'*--read=[Capture files\: the flows of their packets]:FILE:_files' \
'*--ss=[Sockets of a server\: what \`ss -tun\` prints on it]:FILE:_files' \
'--rdma=[Directory of SERVER.json with the queue pairs of each server, as docs/paths.md describes]:DIR:_files' \
'--filter=[Keep only flows of the dataset and the capture files that match EXPR, such as \`net 10.1.0.0/16\`]:EXPR:_default' \
'--pairs=[Keep only the flows of these server pairs\: lines of \`SRC DST \[FLOWS\]\`, hosts of the topology or addresses]:FILE:_files' \
'--from=[Read only rows from this time on\: \`2026-11-21T02\:30\:09Z\`, \`12\:00\` (today), \`-1h\` (an hour ago) or \`now\`; in UTC]:TIME:_default' \
'--to=[Read only rows before this time]:TIME:_default' \
'(--from)--last=[Read only rows of the last DURATION, such as \`10m\`, before \`--to\` or before now]:DURATION:_default' \
'--out=[Write the paths and the loads of links to the tables \`flow_paths\` and \`link_loads\` of this dataset]:DIR:_files' \
'--observer=[Name of the run in these rows]:NAME:_default' \
'-o+[Format of the result; \`paths fim --paths\` reads the JSON]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the result; \`paths fim --paths\` reads the JSON]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--hosts=[Show the names that FILE gives to addresses, in the format of \`/etc/hosts\`, as \`name (address)\`]:FILE:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--assume-5-tuple[Take the answers of devices that do not state what they hash, as if that were the 5-tuple; default\: their flows have the outcome \`hash_fields_unknown\`]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(fim)
_arguments "${_arguments_options[@]}" : \
'--topology=[Topology, in any format that \`topology show\` reads]:FILE:_files' \
'--paths=[Paths\: JSON, \`\[{"flow"\: …, "hops"\: \[\["leaf1", "eth5"\], …\]}, …\]\`, or a dataset with the table \`flow_paths\`]:FILE:_files' \
'--from=[Read only rows from this time on\: \`2026-11-21T02\:30\:09Z\`, \`12\:00\` (today), \`-1h\` (an hour ago) or \`now\`; in UTC]:TIME:_default' \
'--to=[Read only rows before this time]:TIME:_default' \
'(--from)--last=[Read only rows of the last DURATION, such as \`10m\`, before \`--to\` or before now]:DURATION:_default' \
'--top=[Links to print, those furthest from the ideal first]:COUNT:_default' \
'--out=[Write the loads to the table \`link_loads\` of this dataset]:DIR:_files' \
'--observer=[Name of the analysis in the rows of \`link_loads\`]:NAME:_default' \
'-o+[Format of the output]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the output]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--hosts=[Show the names that FILE gives to addresses, in the format of \`/etc/hosts\`, as \`name (address)\`]:FILE:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--windows[Compute the metric for each window of the dataset\: of the flows that \`flows\` has in it]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(advise)
_arguments "${_arguments_options[@]}" : \
'--topology=[Topology, in any format that \`topology show\` reads]:FILE:_files' \
'--driver=[Driver of switches for which the topology has none\: linux, eos, cumulus, sonic, nxos, junos, or a TOML file]:NAME:_default' \
'--host-driver=[Driver of hosts for which the topology has none; default\: hosts with one link are not asked]:NAME:_default' \
'--mode=[How flows are traced]:MODE:((baseline\:"One flow after the other, new connections for each"
persistent\:"One flow after the other, connections stay open"
parallel\:"All flows at once"))' \
'--threads=[Questions at the same time]:COUNT:_default' \
'--sessions=[Sessions with a device at the same time; each runs one command at a time]:COUNT:_default' \
'--time-limit=[Wait for the answer to a command for this long]:DURATION:_default' \
'--connect-limit=[Wait for a device to connect and log in for this long]:DURATION:_default' \
'--user=[User on the devices; default\: as the SSH client is configured]:NAME:_default' \
'--identity=[Private key; default\: as the SSH client is configured, and its agent]:FILE:_files' \
'--known-hosts=[Host keys of the devices; default\: as the SSH client is configured]:FILE:_files' \
'--password-file=[File whose first line is the password]:FILE:_files' \
'--ssh-config=[Configuration of the SSH client]:FILE:_files' \
'*--flows=[List of flows as JSON\: \`\[{"src"\: "10.0.0.1", "dst"\: "10.0.1.1", "src_port"\: 49152}, …\]\`, or what \`paths flows -o json\` prints]:FILE:_files' \
'*--dataset=[Dataset\: the flows of its table \`flows\`]:DATASET:_files' \
'*-r+[Capture files\: the flows of their packets]:FILE:_files' \
'*--read=[Capture files\: the flows of their packets]:FILE:_files' \
'*--ss=[Sockets of a server\: what \`ss -tun\` prints on it]:FILE:_files' \
'--rdma=[Directory of SERVER.json with the queue pairs of each server, as docs/paths.md describes]:DIR:_files' \
'--filter=[Keep only flows of the dataset and the capture files that match EXPR, such as \`net 10.1.0.0/16\`]:EXPR:_default' \
'--pairs=[Keep only the flows of these server pairs\: lines of \`SRC DST \[FLOWS\]\`, hosts of the topology or addresses]:FILE:_files' \
'--from=[Read only rows from this time on\: \`2026-11-21T02\:30\:09Z\`, \`12\:00\` (today), \`-1h\` (an hour ago) or \`now\`; in UTC]:TIME:_default' \
'--to=[Read only rows before this time]:TIME:_default' \
'(--from)--last=[Read only rows of the last DURATION, such as \`10m\`, before \`--to\` or before now]:DURATION:_default' \
'--candidates=[Source ports to try for each flow, with the one it has]:COUNT:_default' \
'-o+[Format of the result]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the result]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--hosts=[Show the names that FILE gives to addresses, in the format of \`/etc/hosts\`, as \`name (address)\`]:FILE:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--assume-5-tuple[Take the answers of devices that do not state what they hash, as if that were the 5-tuple; default\: their flows have the outcome \`hash_fields_unknown\`]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(compare)
_arguments "${_arguments_options[@]}" : \
'--run-a=[Run of A, if it is a dataset\: 1 is the newest, 2 the one before]:NUMBER:_default' \
'--run-b=[Run of B; A and B may be the same dataset]:NUMBER:_default' \
'--topology=[Topology, in any format that \`topology show\` reads]:FILE:_files' \
'--top=[Links and flows to print]:COUNT:_default' \
'-o+[Format of the output]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the output]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--hosts=[Show the names that FILE gives to addresses, in the format of \`/etc/hosts\`, as \`name (address)\`]:FILE:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':a -- Paths of run A\: JSON, or a dataset with the table `flow_paths`:_files' \
':b -- Paths of run B:_files' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__paths__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-paths-help-command-$line[1]:"
        case $line[1] in
            (flows)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sflow)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(discover)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(fim)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(advise)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(compare)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(probe)
_arguments "${_arguments_options[@]}" : \
'(--all)*-i+[NIC to probe from and to; at least two, or one with \`--peers\`]:NIC:_default' \
'(--all)*--interface=[NIC to probe from and to; at least two, or one with \`--peers\`]:NIC:_default' \
'--observer=[Name of this host in every row and file name; default\: its host name]:NAME:_default' \
'--duration=[Stop after DURATION]:DURATION:_default' \
'-o+[Format of the summary]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the summary]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--backend=[How probes are sent and received]:BACKEND:((raw\:"Frames over packet sockets; works on any Ethernet NIC"
verbs\:"UD queue pairs of RDMA NICs, with hardware timestamps; paths are not traced"))' \
'--interval=[Interval between two probes of a NIC]:DURATION:_default' \
'--timeout=[Count a probe without an answer after DURATION as lost]:DURATION:_default' \
'--port=[UDP destination port; default\: 4791, or 47910 if a NIC is an RDMA device, which reserves 4791]:PORT:_default' \
'--source-ports=[Number of random UDP source ports of a NIC]:COUNT:_default' \
'--renew=[Replace a source port after DURATION]:DURATION:_default' \
'*--dscp=[DSCPs of probes and path traces, separated by commas; the source ports take them in turn. Probe the classes that the traffic uses\: each has its own queues in the switches]:DSCP:_default' \
'--max-cpu=[Double the interval above this share of a core]:RATIO:_default' \
'--seed=[Seed of the random numbers; default\: a different one each time]:SEED:_default' \
'--paths-rate=[Path traces per second and NIC; 0 disables tracing]:RATE:_default' \
'--icmp-rate=[Maximum number of ICMP answers per second requested from one hop]:RATE:_default' \
'--max-hops=[Maximum number of hops of a traced path]:COUNT:_default' \
'--refresh=[Write an unchanged path again after DURATION]:DURATION:_default' \
'--operations=[Measure how long SEND, WRITE and READ take between RC queue pairs, every DURATION, where NICs are RDMA devices]:DURATION:_default' \
'*--operations-peers=[Agents whose NICs answer, each the one of the same position; without them the next NIC of this host does. Only \`rocescope agent\` has a controller that introduces them]:AGENT:_default' \
'--peers=[Probe NICs of other hosts too, whose agents answer\: one line for each host, with the addresses of its NICs in the order of the rails and \`-\` where one is missing; the same FILE is right on all hosts]:FILE:_files' \
'--peer-rails=[NICs of other hosts that a NIC probes]:PEER_RAILS:((same\:"Those of its own rail"
all\:"Those of all rails"))' \
'--peers-at-once=[Number of NICs of other hosts that a NIC probes at a time]:COUNT:_default' \
'--peer-ports=[Number of UDP source ports for each of them; at most 24 for all that a NIC probes at a time]:COUNT:_default' \
'--peer-interval=[Interval between two probes of a NIC to other hosts]:DURATION:_default' \
'--peer-period=[Replace a NIC of another host by the next one after DURATION; all take turns]:DURATION:_default' \
'--window=[Print a status line every DURATION]:DURATION:_default' \
'--out=[Write a Parquet dataset to this directory]:DIR:_files' \
'--segment-age=[Seal a segment when its first rows are older than DURATION]:DURATION:_default' \
'--keep-age=[Delete sealed segments, and recordings of a capture, whose hour ended more than DURATION ago]:DURATION:_default' \
'--keep-bytes=[Delete the oldest sealed segments when the total exceeds SIZE]:SIZE:_default' \
'--keep-free=[Keep SIZE of the file system free\: with --keep-age or --keep-bytes, delete the oldest segments first; otherwise stop storing until there is space; agents of a collector keep their rows until then. Without this option, 5 % of the file system, at most 1 GiB]:SIZE:_default' \
'--collector=[Send rows to the \`rocescope collect\` at URL, such as \`https\://collector.example\:4792\`]:URL:_default' \
'--cert=[The agent'\''s certificate (PEM); its first DNS name is the observer]:FILE:_files' \
'--key=[The key of the certificate (PEM)]:FILE:_files' \
'--ca=[CA certificate that signed the collector'\''s certificate (PEM)]:FILE:_files' \
'--spool=[Directory for rows that the collector has not acknowledged yet]:DIR:_files' \
'--spool-bytes=[Maximum size of the spool; when it is full, the oldest rows are deleted]:SIZE:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--all[Probe all Ethernet interfaces that are up and have an address; with \`--backend verbs\`, only RDMA devices]' \
'-q[Print only the summary]' \
'--quiet[Print only the summary]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(repair)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
':dataset -- Dataset to repair:_files' \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
'-o+[Format of the report; default\: \`text\`, or nothing with \`--html\`]:OUTPUT:((text\:"Text for terminals"
markdown\:"Markdown for issues and wikis"
json\:"One JSON object"
csv\:"One table as CSV; see \`--table\`"))' \
'--output=[Format of the report; default\: \`text\`, or nothing with \`--html\`]:OUTPUT:((text\:"Text for terminals"
markdown\:"Markdown for issues and wikis"
json\:"One JSON object"
csv\:"One table as CSV; see \`--table\`"))' \
'--table=[Table that \`-o csv\` prints]:TABLE:((flows\:"Largest flows"
groups\:"Traffic by what \`--by\` names"
connections\:"Connections with the most problems, one row for each direction"
pdcs\:"Packet delivery contexts of UET, those with the most losses first"
opcodes\:"All opcodes"
events\:"Most significant events of each kind"
windows\:"Windows, at most 1,000; neighbours are merged if there are more"
pairs\:"Pairs of NICs that probed each other"
sla\:"Service level of the probe mesh over time"
verdicts\:"Last verdict of each problem in the mesh"
links\:"Links of the mesh, summed over time"))' \
'--html=[Write a self-contained HTML page with charts]:FILE:_files' \
'--from=[Read only rows from this time on\: \`2026-11-21T02\:30\:09Z\`, \`12\:00\` (today), \`-1h\` (an hour ago) or \`now\`; in UTC]:TIME:_default' \
'--to=[Read only rows before this time]:TIME:_default' \
'(--from)--last=[Read only rows of the last DURATION, such as \`10m\`, before \`--to\` or before now]:DURATION:_default' \
'--top=[Maximum number of rows of each list]:COUNT:_default' \
'--filter=[Include only flows, connections and events that match EXPR, such as \`host 10.0.0.1\`]:EXPR:_default' \
'--by=[Group traffic by source, destination, queue pair or opcode]:BY:((src\:"Source address"
dst\:"Destination address"
qp\:"Destination address and queue pair"
opcode\:"Opcode"))' \
'--hosts=[Show the names that FILE gives to addresses, in the format of \`/etc/hosts\`, as \`name (address)\`]:FILE:_default' \
'--observer=[Include only rows of this capture box]:NAME:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':dataset -- Dataset to summarize:_files' \
&& ret=0
;;
(schema)
_arguments "${_arguments_options[@]}" : \
'-o+[Format of the schema]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"
markdown\:"The page \`docs/formats.md\`"))' \
'--output=[Format of the schema]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"
markdown\:"The page \`docs/formats.md\`"))' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(restore-vlan-offload)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
':interface -- Index of the interface:_default' \
&& ret=0
;;
(ship)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-V[Print version]' \
'--version[Print version]' \
'*::words -- Options and arguments of a program of its own, which this command starts; `--help` prints them:_default' \
&& ret=0
;;
(sql)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-V[Print version]' \
'--version[Print version]' \
'*::words -- Options and arguments of a program of its own, which this command starts; `--help` prints them:_default' \
&& ret=0
;;
(top)
_arguments "${_arguments_options[@]}" : \
'--from=[Read only rows from this time on\: \`2026-11-21T02\:30\:09Z\`, \`12\:00\` (today), \`-1h\` (an hour ago) or \`now\`; in UTC]:TIME:_default' \
'--to=[Read only rows before this time]:TIME:_default' \
'(--from)--last=[Read only rows of the last DURATION, such as \`10m\`, before \`--to\` or before now]:DURATION:_default' \
'(-i --interface --from --to --last)*-r+[Capture files to play as one, in the order of time\: pcap or pcapng, plain, gzip or zstd; or a directory of them; \`-\` for standard input]:FILE:_files' \
'(-i --interface --from --to --last)*--read=[Capture files to play as one, in the order of time\: pcap or pcapng, plain, gzip or zstd; or a directory of them; \`-\` for standard input]:FILE:_files' \
'--speed=[Playback speed of a file or dataset\: 1 is as recorded, 10 is ten times as fast; \`max\` does not wait]:FACTOR:_default' \
'(-i --interface)--at=[Start at the window of this time, such as \`2026-01-01T09\:30\:00Z\`]:TIME:_default' \
'--filter=[Count only packets that match EXPR; for a dataset, show only rows that match]:EXPR:_default' \
'*--udp-port=[UDP destination port that carries RoCEv2; up to four]:PORT:_default' \
'--sort=[Sort flows by COLUMN at start, and in printed output]:COLUMN:_default' \
'--by=[Group traffic by source, destination, queue pair or opcode]:BY:((src\:"Source address"
dst\:"Destination address"
qp\:"Destination address and queue pair"
opcode\:"Opcode"))' \
'--hosts=[Show the names that FILE gives to addresses, in the format of \`/etc/hosts\`, as \`name (address)\`]:FILE:_default' \
'--fps=[Maximum number of screen updates per second]:COUNT:_default' \
'--theme=[Colour theme; default\: \`dark\`, or \`none\` if the environment variable \`NO_COLOR\` is set]:THEME:((dark\:"Colours for a dark terminal"
light\:"Colours for a light terminal"
none\:"No colours"))' \
'*--bind=[Bind a key to an action, such as \`quit=ctrl-q\`; the help page (\`?\`) lists the keys of all actions]:ACTION=KEY:_default' \
'--windows=[Print COUNT windows]:COUNT:_default' \
'-o+[Format of the windows]:OUTPUT:((table\:"Text\: totals, and the first rows of a table"
json\:"One line of JSON for each window, with the rows of every table"
jsonl\:"The same for every window until the end, without \`--once\`"
csv\:"All columns of a table as CSV (RFC 4180)"))' \
'--output=[Format of the windows]:OUTPUT:((table\:"Text\: totals, and the first rows of a table"
json\:"One line of JSON for each window, with the rows of every table"
jsonl\:"The same for every window until the end, without \`--once\`"
csv\:"All columns of a table as CSV (RFC 4180)"))' \
'--table=[Table for the formats \`table\` and \`csv\`; default\: \`flows\`, or \`pairs\` if there are only probes]:TABLE:((flows\:"Top flows"
opcodes\:"Opcode mix"
connections\:"Each direction of each connection"
pdcs\:"Packet delivery contexts of UET"
events\:"Events"
windows\:"Totals of the window"
groups\:"Traffic by what \`--by\` names; default with \`--by\`"
pairs\:"Pairs of NICs, for a dataset with probes"
sla\:"Service level of the probe mesh"
verdicts\:"Problems of the mesh"
links\:"Links of the mesh"
host-ports\:"Ports of hosts, for a dataset with counters and live"
host-verdicts\:"Faults of hosts, for a dataset with verdicts about hosts"))' \
'(-r --read)--mode=[How frames are captured; \`auto\` tries native XDP, then generic XDP, then \`af-packet\`]:MODE:((auto\:"First of the other modes that works"
native\:"XDP in the driver"
generic\:"XDP after the driver"
af-packet\:"Packet socket"))' \
'(-r --read)--direction=[Frames that arrive, that leave, or both; XDP sees arriving frames only, so \`out\` and \`both\` use packet sockets]:DIRECTION:((in\:"Frames that arrive"
out\:"Frames that this host sends"
both\:"All frames"))' \
'(-r --read)--verdict=[What happens to frames after XDP; \`auto\` drops them if nothing else uses the interface]:VERDICT:((auto\:"Drop if the interface has no address, no master and no default route"
pass\:"Pass frames to the kernel"
drop\:"Drop frames"))' \
'(-r --read)--duration=[Stop after DURATION]:DURATION:_default' \
'(-r --read)--vlan-offload=[VLAN offload of the NIC; \`off\` leaves tags in the frames while the capture runs]:VLAN_OFFLOAD:((keep\:"Leave it unchanged"
off\:"Leave tags in the frames"))' \
'(-r --read)--ring-bytes=[Memory for the XDP ring buffers of all CPUs; each buffer has 64 KiB to 32 MiB]:SIZE:_default' \
'(-r --read)--metrics=[Serve Prometheus metrics on this address, such as 127.0.0.1\:9464]:ADDRESS:_default' \
'(-r --read)--metrics-flows=[Number of flows in the metrics\: the largest of the last window]:COUNT:_default' \
'--observer=[Name of this capture box in every row and file name]:NAME:_default' \
'--window=[Length of a window, in event time]:DURATION:_default' \
'--lateness=[Wait DURATION for frames that arrive out of order before a window closes]:DURATION:_default' \
'--top=[Maximum number of flows, connections and events in the summary]:COUNT:_default' \
'--flow-rows=[Number of top flows of each window in the dataset]:COUNT:_default' \
'--spread-rows=[Number of UDP source ports of sprayed directions of each window in the dataset, the largest directions first]:COUNT:_default' \
'--exact-flows=[Maximum number of flows counted exactly, in a window and in total; sketches estimate the rest]:COUNT:_default' \
'--flow-key=[Whether the UDP source port separates flows]:KEY:((auto\:"The port, except in directions whose sender sprays packets over many ports"
port\:"The port, always"
direction\:"Addresses and destination QP alone"))' \
'--connection-memory=[Memory for the state of connections; at the limit, the packets of further ones are only counted]:SIZE:_default' \
'--elephant=[Minimum rate of an elephant flow, in bits per second]:RATE:_default' \
'--jitter-relative=[Minimum change between windows that counts as jitter, relative to the previous rate]:RATIO:_default' \
'--jitter-absolute=[Minimum change between windows that counts as jitter, in bits per second]:RATE:_default' \
'(--from --to --last)*-i+[Interface to capture on; repeatable]:IFACE:_default' \
'(--from --to --last)*--interface=[Interface to capture on; repeatable]:IFACE:_default' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--connections[Track connections on interfaces; for a file they are always tracked]' \
'--bytes[Show rates in bytes per second instead of bits per second]' \
'--ascii[Use only ASCII characters; automatic if the locale is not UTF-8]' \
'--mouse[Select rows, headings and tabs with the mouse]' \
'--once[Print one window and exit; for a file or dataset, the first; with \`--table host-verdicts\`, the last of a dataset with the faults of all]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'::dataset -- Dataset to step through:_files' \
'*::command -- Run COMMAND, stop when it exits, and exit with its status:_default' \
&& ret=0
;;
(topology)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_rocescope__subcmd__topology_commands" \
"*::: :->topology" \
&& ret=0

    case $state in
    (topology)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-topology-command-$line[1]:"
        case $line[1] in
            (check)
_arguments "${_arguments_options[@]}" : \
'*--leave-out=[Leave out the links at ports that fit PATTERN, \`PORT\` or \`NODE\:PORT\` with \`*\` for any characters, and the nodes that have no others]:PATTERN:_default' \
'-o+[Format of the output]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the output]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--management[Keep the links of LLDP neighbors at management ports, such as \`mgmt0\`, or \`eth0\` of a switch]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':topology -- Topology\: TOML, containerlab YAML, Graphviz DOT as PTM uses it, a file or a directory of NODE.json from `lldpcli -f json show neighbors details`, or a dataset with the table `paths`:_files' \
&& ret=0
;;
(show)
_arguments "${_arguments_options[@]}" : \
'*--leave-out=[Leave out the links at ports that fit PATTERN, \`PORT\` or \`NODE\:PORT\` with \`*\` for any characters, and the nodes that have no others]:PATTERN:_default' \
'-o+[Format of the output]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the output]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--management[Keep the links of LLDP neighbors at management ports, such as \`mgmt0\`, or \`eth0\` of a switch]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':topology -- Topology\: TOML, containerlab YAML, Graphviz DOT as PTM uses it, a file or a directory of NODE.json from `lldpcli -f json show neighbors details`, or a dataset with the table `paths`:_files' \
&& ret=0
;;
(convert)
_arguments "${_arguments_options[@]}" : \
'*--leave-out=[Leave out the links at ports that fit PATTERN, \`PORT\` or \`NODE\:PORT\` with \`*\` for any characters, and the nodes that have no others]:PATTERN:_default' \
'--to=[Format to write]:TO:((toml\:"rocescope'\''s own"
dot\:"Graphviz DOT, as PTM uses it"))' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'--management[Keep the links of LLDP neighbors at management ports, such as \`mgmt0\`, or \`eth0\` of a switch]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':topology -- Topology, in any format that `topology show` reads:_files' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__topology__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-topology-help-command-$line[1]:"
        case $line[1] in
            (check)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(show)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(convert)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(verify)
_arguments "${_arguments_options[@]}" : \
'-o+[Format of the result]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--output=[Format of the result]:OUTPUT:((table\:"Text tables"
json\:"One JSON object"))' \
'--config=[Configuration file (TOML); default\: \`/etc/rocescope/rocescope.toml\` if it exists]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':dataset -- Dataset to check:_files' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-help-command-$line[1]:"
        case $line[1] in
            (agent)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(capture)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(completions)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(collect)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(compact)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(compare)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(collective)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__help__subcmd__collective_commands" \
"*::: :->collective" \
&& ret=0

    case $state in
    (collective)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-help-collective-command-$line[1]:"
        case $line[1] in
            (import)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(follow)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(config)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__help__subcmd__config_commands" \
"*::: :->config" \
&& ret=0

    case $state in
    (config)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-help-config-command-$line[1]:"
        case $line[1] in
            (print)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(check)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(template)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(connections)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(control)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__help__subcmd__control_commands" \
"*::: :->control" \
&& ret=0

    case $state in
    (control)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-help-control-command-$line[1]:"
        case $line[1] in
            (status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(apply)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rollback)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(counters)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(demo)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(diagnose)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__help__subcmd__diagnose_commands" \
"*::: :->diagnose" \
&& ret=0

    case $state in
    (diagnose)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-help-diagnose-command-$line[1]:"
        case $line[1] in
            (hostmesh)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(hosts)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(hostping)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(collective)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(doctor)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(extract)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(generate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(hostping)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__help__subcmd__hostping_commands" \
"*::: :->hostping" \
&& ret=0

    case $state in
    (hostping)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-help-hostping-command-$line[1]:"
        case $line[1] in
            (topology)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(run)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(diagnose)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(baseline)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(man)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(merge)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(paths)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__help__subcmd__paths_commands" \
"*::: :->paths" \
&& ret=0

    case $state in
    (paths)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-help-paths-command-$line[1]:"
        case $line[1] in
            (flows)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sflow)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(discover)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(fim)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(advise)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(compare)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(probe)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(repair)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(schema)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(restore-vlan-offload)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(ship)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sql)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(top)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(topology)
_arguments "${_arguments_options[@]}" : \
":: :_rocescope__subcmd__help__subcmd__topology_commands" \
"*::: :->topology" \
&& ret=0

    case $state in
    (topology)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:rocescope-help-topology-command-$line[1]:"
        case $line[1] in
            (check)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(show)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(convert)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(verify)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
}

(( $+functions[_rocescope_commands] )) ||
_rocescope_commands() {
    local commands; commands=(
'agent:Run what the configuration file asks for on this host, in one process\: probes, paths, counters' \
'capture:Capture from interfaces or a file\: top flows, opcode mix, and a Parquet dataset' \
'completions:Print the completion script for a shell' \
'collect:Collect the rows of agents over the network into one dataset, and diagnose the mesh' \
'compact:Join the small segments of a dataset into larger ones, once their hour is over' \
'compare:Compare two datasets, or two times of one\: what changed, the largest change first' \
'collective:Read the steps of collectives and the telemetry of switches' \
'config:Print, check or generate a configuration file' \
'connections:Print loss, reordering, latency and congestion for each queue pair' \
'control:Show and change the configuration of all agents and capture boxes' \
'counters:Read what the RDMA devices and network interfaces of this host count' \
'demo:Run the whole pipeline on generated traffic, without privileges or input' \
'diagnose:Locate failures from the rows of a dataset' \
'doctor:Check whether this machine can capture, and print how to fix what prevents it' \
'extract:Copy the frames that match a filter to another capture file' \
'generate:Generate deterministic RoCEv2 traffic from a scenario, with its ground truth' \
'hostping:Locate the bottleneck inside a host from loopback tests of its NICs' \
'man:Write the manual pages' \
'merge:Merge the datasets of several capture boxes, hosts and agents' \
'paths:Find the links that flows cross, and how unevenly they lie on them' \
'probe:Probe between the NICs of this host\: one-way loss and latency, and paths' \
'repair:Seal the journals that a killed capture left in a dataset, and list unreadable files' \
'report:Summarize a dataset as text, JSON, CSV or one HTML page with charts' \
'schema:Print the tables of the dataset and their columns' \
'restore-vlan-offload:Restore the VLAN offload of a NIC when standard input ends' \
'ship:Copy the sealed segments of a dataset to an object store' \
'sql:Query datasets with SQL, on disk or in an object store' \
'top:Show flows, opcodes, connections and events in the terminal' \
'topology:Check, print or convert the topology of a fabric' \
'verify:Check every file of a dataset against its checksums, and its tables against each other' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__agent_commands] )) ||
_rocescope__subcmd__agent_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope agent commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__capture_commands] )) ||
_rocescope__subcmd__capture_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope capture commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__collect_commands] )) ||
_rocescope__subcmd__collect_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope collect commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__collective_commands] )) ||
_rocescope__subcmd__collective_commands() {
    local commands; commands=(
'import:Write steps of collectives and telemetry of switches to a dataset' \
'follow:Write the steps of collectives to a dataset while jobs write their files' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope collective commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__collective__subcmd__follow_commands] )) ||
_rocescope__subcmd__collective__subcmd__follow_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope collective follow commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__collective__subcmd__help_commands] )) ||
_rocescope__subcmd__collective__subcmd__help_commands() {
    local commands; commands=(
'import:Write steps of collectives and telemetry of switches to a dataset' \
'follow:Write the steps of collectives to a dataset while jobs write their files' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope collective help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__collective__subcmd__help__subcmd__follow_commands] )) ||
_rocescope__subcmd__collective__subcmd__help__subcmd__follow_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope collective help follow commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__collective__subcmd__help__subcmd__help_commands] )) ||
_rocescope__subcmd__collective__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope collective help help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__collective__subcmd__help__subcmd__import_commands] )) ||
_rocescope__subcmd__collective__subcmd__help__subcmd__import_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope collective help import commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__collective__subcmd__import_commands] )) ||
_rocescope__subcmd__collective__subcmd__import_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope collective import commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__compact_commands] )) ||
_rocescope__subcmd__compact_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope compact commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__compare_commands] )) ||
_rocescope__subcmd__compare_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope compare commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__completions_commands] )) ||
_rocescope__subcmd__completions_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope completions commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__config_commands] )) ||
_rocescope__subcmd__config_commands() {
    local commands; commands=(
'print:Print every setting in effect and its source' \
'check:Validate the configuration file' \
'template:Print a configuration file with every setting, its meaning and its default' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope config commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__config__subcmd__check_commands] )) ||
_rocescope__subcmd__config__subcmd__check_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope config check commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__config__subcmd__help_commands] )) ||
_rocescope__subcmd__config__subcmd__help_commands() {
    local commands; commands=(
'print:Print every setting in effect and its source' \
'check:Validate the configuration file' \
'template:Print a configuration file with every setting, its meaning and its default' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope config help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__config__subcmd__help__subcmd__check_commands] )) ||
_rocescope__subcmd__config__subcmd__help__subcmd__check_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope config help check commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__config__subcmd__help__subcmd__help_commands] )) ||
_rocescope__subcmd__config__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope config help help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__config__subcmd__help__subcmd__print_commands] )) ||
_rocescope__subcmd__config__subcmd__help__subcmd__print_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope config help print commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__config__subcmd__help__subcmd__template_commands] )) ||
_rocescope__subcmd__config__subcmd__help__subcmd__template_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope config help template commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__config__subcmd__print_commands] )) ||
_rocescope__subcmd__config__subcmd__print_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope config print commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__config__subcmd__template_commands] )) ||
_rocescope__subcmd__config__subcmd__template_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope config template commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__connections_commands] )) ||
_rocescope__subcmd__connections_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope connections commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__control_commands] )) ||
_rocescope__subcmd__control_commands() {
    local commands; commands=(
'status:Print which agent and capture box runs which version, who refused one and why, and who is away' \
'apply:Put the configuration in FILE in force, as the next version' \
'diff:Print what would change if FILE were applied; refuse what \`apply\` refuses' \
'rollback:Put an earlier version in force, as the next version' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope control commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__control__subcmd__apply_commands] )) ||
_rocescope__subcmd__control__subcmd__apply_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope control apply commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__control__subcmd__diff_commands] )) ||
_rocescope__subcmd__control__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope control diff commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__control__subcmd__help_commands] )) ||
_rocescope__subcmd__control__subcmd__help_commands() {
    local commands; commands=(
'status:Print which agent and capture box runs which version, who refused one and why, and who is away' \
'apply:Put the configuration in FILE in force, as the next version' \
'diff:Print what would change if FILE were applied; refuse what \`apply\` refuses' \
'rollback:Put an earlier version in force, as the next version' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope control help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__control__subcmd__help__subcmd__apply_commands] )) ||
_rocescope__subcmd__control__subcmd__help__subcmd__apply_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope control help apply commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__control__subcmd__help__subcmd__diff_commands] )) ||
_rocescope__subcmd__control__subcmd__help__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope control help diff commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__control__subcmd__help__subcmd__help_commands] )) ||
_rocescope__subcmd__control__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope control help help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__control__subcmd__help__subcmd__rollback_commands] )) ||
_rocescope__subcmd__control__subcmd__help__subcmd__rollback_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope control help rollback commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__control__subcmd__help__subcmd__status_commands] )) ||
_rocescope__subcmd__control__subcmd__help__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope control help status commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__control__subcmd__rollback_commands] )) ||
_rocescope__subcmd__control__subcmd__rollback_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope control rollback commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__control__subcmd__status_commands] )) ||
_rocescope__subcmd__control__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope control status commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__counters_commands] )) ||
_rocescope__subcmd__counters_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope counters commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__demo_commands] )) ||
_rocescope__subcmd__demo_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope demo commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__diagnose_commands] )) ||
_rocescope__subcmd__diagnose_commands() {
    local commands; commands=(
'hostmesh:Locate the failing NIC, link or switch from probes between hosts and their paths' \
'hosts:Say whose fault it is, application, host, NIC, link or network, from the counters of hosts and captured traffic' \
'hostping:Locate the abnormal link inside each host from its last loopback tests' \
'collective:Find which step, flow and port made a collective slow' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope diagnose commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__diagnose__subcmd__collective_commands] )) ||
_rocescope__subcmd__diagnose__subcmd__collective_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope diagnose collective commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__diagnose__subcmd__help_commands] )) ||
_rocescope__subcmd__diagnose__subcmd__help_commands() {
    local commands; commands=(
'hostmesh:Locate the failing NIC, link or switch from probes between hosts and their paths' \
'hosts:Say whose fault it is, application, host, NIC, link or network, from the counters of hosts and captured traffic' \
'hostping:Locate the abnormal link inside each host from its last loopback tests' \
'collective:Find which step, flow and port made a collective slow' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope diagnose help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__diagnose__subcmd__help__subcmd__collective_commands] )) ||
_rocescope__subcmd__diagnose__subcmd__help__subcmd__collective_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope diagnose help collective commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__diagnose__subcmd__help__subcmd__help_commands] )) ||
_rocescope__subcmd__diagnose__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope diagnose help help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__diagnose__subcmd__help__subcmd__hostmesh_commands] )) ||
_rocescope__subcmd__diagnose__subcmd__help__subcmd__hostmesh_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope diagnose help hostmesh commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__diagnose__subcmd__help__subcmd__hostping_commands] )) ||
_rocescope__subcmd__diagnose__subcmd__help__subcmd__hostping_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope diagnose help hostping commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__diagnose__subcmd__help__subcmd__hosts_commands] )) ||
_rocescope__subcmd__diagnose__subcmd__help__subcmd__hosts_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope diagnose help hosts commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__diagnose__subcmd__hostmesh_commands] )) ||
_rocescope__subcmd__diagnose__subcmd__hostmesh_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope diagnose hostmesh commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__diagnose__subcmd__hostping_commands] )) ||
_rocescope__subcmd__diagnose__subcmd__hostping_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope diagnose hostping commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__diagnose__subcmd__hosts_commands] )) ||
_rocescope__subcmd__diagnose__subcmd__hosts_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope diagnose hosts commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__doctor_commands] )) ||
_rocescope__subcmd__doctor_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope doctor commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__extract_commands] )) ||
_rocescope__subcmd__extract_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope extract commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__generate_commands] )) ||
_rocescope__subcmd__generate_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope generate commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help_commands] )) ||
_rocescope__subcmd__help_commands() {
    local commands; commands=(
'agent:Run what the configuration file asks for on this host, in one process\: probes, paths, counters' \
'capture:Capture from interfaces or a file\: top flows, opcode mix, and a Parquet dataset' \
'completions:Print the completion script for a shell' \
'collect:Collect the rows of agents over the network into one dataset, and diagnose the mesh' \
'compact:Join the small segments of a dataset into larger ones, once their hour is over' \
'compare:Compare two datasets, or two times of one\: what changed, the largest change first' \
'collective:Read the steps of collectives and the telemetry of switches' \
'config:Print, check or generate a configuration file' \
'connections:Print loss, reordering, latency and congestion for each queue pair' \
'control:Show and change the configuration of all agents and capture boxes' \
'counters:Read what the RDMA devices and network interfaces of this host count' \
'demo:Run the whole pipeline on generated traffic, without privileges or input' \
'diagnose:Locate failures from the rows of a dataset' \
'doctor:Check whether this machine can capture, and print how to fix what prevents it' \
'extract:Copy the frames that match a filter to another capture file' \
'generate:Generate deterministic RoCEv2 traffic from a scenario, with its ground truth' \
'hostping:Locate the bottleneck inside a host from loopback tests of its NICs' \
'man:Write the manual pages' \
'merge:Merge the datasets of several capture boxes, hosts and agents' \
'paths:Find the links that flows cross, and how unevenly they lie on them' \
'probe:Probe between the NICs of this host\: one-way loss and latency, and paths' \
'repair:Seal the journals that a killed capture left in a dataset, and list unreadable files' \
'report:Summarize a dataset as text, JSON, CSV or one HTML page with charts' \
'schema:Print the tables of the dataset and their columns' \
'restore-vlan-offload:Restore the VLAN offload of a NIC when standard input ends' \
'ship:Copy the sealed segments of a dataset to an object store' \
'sql:Query datasets with SQL, on disk or in an object store' \
'top:Show flows, opcodes, connections and events in the terminal' \
'topology:Check, print or convert the topology of a fabric' \
'verify:Check every file of a dataset against its checksums, and its tables against each other' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__agent_commands] )) ||
_rocescope__subcmd__help__subcmd__agent_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help agent commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__capture_commands] )) ||
_rocescope__subcmd__help__subcmd__capture_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help capture commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__collect_commands] )) ||
_rocescope__subcmd__help__subcmd__collect_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help collect commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__collective_commands] )) ||
_rocescope__subcmd__help__subcmd__collective_commands() {
    local commands; commands=(
'import:Write steps of collectives and telemetry of switches to a dataset' \
'follow:Write the steps of collectives to a dataset while jobs write their files' \
    )
    _describe -t commands 'rocescope help collective commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__collective__subcmd__follow_commands] )) ||
_rocescope__subcmd__help__subcmd__collective__subcmd__follow_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help collective follow commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__collective__subcmd__import_commands] )) ||
_rocescope__subcmd__help__subcmd__collective__subcmd__import_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help collective import commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__compact_commands] )) ||
_rocescope__subcmd__help__subcmd__compact_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help compact commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__compare_commands] )) ||
_rocescope__subcmd__help__subcmd__compare_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help compare commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__completions_commands] )) ||
_rocescope__subcmd__help__subcmd__completions_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help completions commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__config_commands] )) ||
_rocescope__subcmd__help__subcmd__config_commands() {
    local commands; commands=(
'print:Print every setting in effect and its source' \
'check:Validate the configuration file' \
'template:Print a configuration file with every setting, its meaning and its default' \
    )
    _describe -t commands 'rocescope help config commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__config__subcmd__check_commands] )) ||
_rocescope__subcmd__help__subcmd__config__subcmd__check_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help config check commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__config__subcmd__print_commands] )) ||
_rocescope__subcmd__help__subcmd__config__subcmd__print_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help config print commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__config__subcmd__template_commands] )) ||
_rocescope__subcmd__help__subcmd__config__subcmd__template_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help config template commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__connections_commands] )) ||
_rocescope__subcmd__help__subcmd__connections_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help connections commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__control_commands] )) ||
_rocescope__subcmd__help__subcmd__control_commands() {
    local commands; commands=(
'status:Print which agent and capture box runs which version, who refused one and why, and who is away' \
'apply:Put the configuration in FILE in force, as the next version' \
'diff:Print what would change if FILE were applied; refuse what \`apply\` refuses' \
'rollback:Put an earlier version in force, as the next version' \
    )
    _describe -t commands 'rocescope help control commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__control__subcmd__apply_commands] )) ||
_rocescope__subcmd__help__subcmd__control__subcmd__apply_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help control apply commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__control__subcmd__diff_commands] )) ||
_rocescope__subcmd__help__subcmd__control__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help control diff commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__control__subcmd__rollback_commands] )) ||
_rocescope__subcmd__help__subcmd__control__subcmd__rollback_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help control rollback commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__control__subcmd__status_commands] )) ||
_rocescope__subcmd__help__subcmd__control__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help control status commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__counters_commands] )) ||
_rocescope__subcmd__help__subcmd__counters_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help counters commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__demo_commands] )) ||
_rocescope__subcmd__help__subcmd__demo_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help demo commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__diagnose_commands] )) ||
_rocescope__subcmd__help__subcmd__diagnose_commands() {
    local commands; commands=(
'hostmesh:Locate the failing NIC, link or switch from probes between hosts and their paths' \
'hosts:Say whose fault it is, application, host, NIC, link or network, from the counters of hosts and captured traffic' \
'hostping:Locate the abnormal link inside each host from its last loopback tests' \
'collective:Find which step, flow and port made a collective slow' \
    )
    _describe -t commands 'rocescope help diagnose commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__diagnose__subcmd__collective_commands] )) ||
_rocescope__subcmd__help__subcmd__diagnose__subcmd__collective_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help diagnose collective commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__diagnose__subcmd__hostmesh_commands] )) ||
_rocescope__subcmd__help__subcmd__diagnose__subcmd__hostmesh_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help diagnose hostmesh commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__diagnose__subcmd__hostping_commands] )) ||
_rocescope__subcmd__help__subcmd__diagnose__subcmd__hostping_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help diagnose hostping commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__diagnose__subcmd__hosts_commands] )) ||
_rocescope__subcmd__help__subcmd__diagnose__subcmd__hosts_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help diagnose hosts commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__doctor_commands] )) ||
_rocescope__subcmd__help__subcmd__doctor_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help doctor commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__extract_commands] )) ||
_rocescope__subcmd__help__subcmd__extract_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help extract commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__generate_commands] )) ||
_rocescope__subcmd__help__subcmd__generate_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help generate commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__help_commands] )) ||
_rocescope__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__hostping_commands] )) ||
_rocescope__subcmd__help__subcmd__hostping_commands() {
    local commands; commands=(
'topology:Draw the links of a host, and list what looks wrong without a test' \
'run:Measure each NIC with each endpoint of this host by loopback WRITEs, and locate the abnormal link' \
'diagnose:Locate the abnormal link of a host from loopback measurements' \
'baseline:Print the baseline of a model of hosts\: the medians of healthy runs' \
    )
    _describe -t commands 'rocescope help hostping commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__hostping__subcmd__baseline_commands] )) ||
_rocescope__subcmd__help__subcmd__hostping__subcmd__baseline_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help hostping baseline commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__hostping__subcmd__diagnose_commands] )) ||
_rocescope__subcmd__help__subcmd__hostping__subcmd__diagnose_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help hostping diagnose commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__hostping__subcmd__run_commands] )) ||
_rocescope__subcmd__help__subcmd__hostping__subcmd__run_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help hostping run commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__hostping__subcmd__topology_commands] )) ||
_rocescope__subcmd__help__subcmd__hostping__subcmd__topology_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help hostping topology commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__man_commands] )) ||
_rocescope__subcmd__help__subcmd__man_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help man commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__merge_commands] )) ||
_rocescope__subcmd__help__subcmd__merge_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help merge commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__paths_commands] )) ||
_rocescope__subcmd__help__subcmd__paths_commands() {
    local commands; commands=(
'flows:List the flows of a workload\: from captures, datasets, sockets or queue pairs' \
'sflow:Receive sFlow v5 datagrams of switches, and list the RoCEv2 flows in their samples' \
'discover:Find the paths of flows\: ask each switch for the egress port, hop by hop, over SSH' \
'fim:Compute how unevenly flows lie on the links of each layer (Flow Imbalance Metric)' \
'advise:Find source ports that would make the layers even, by asking the switches about other ports' \
'compare:Compare the loads of links and the paths of two runs' \
    )
    _describe -t commands 'rocescope help paths commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__paths__subcmd__advise_commands] )) ||
_rocescope__subcmd__help__subcmd__paths__subcmd__advise_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help paths advise commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__paths__subcmd__compare_commands] )) ||
_rocescope__subcmd__help__subcmd__paths__subcmd__compare_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help paths compare commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__paths__subcmd__discover_commands] )) ||
_rocescope__subcmd__help__subcmd__paths__subcmd__discover_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help paths discover commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__paths__subcmd__fim_commands] )) ||
_rocescope__subcmd__help__subcmd__paths__subcmd__fim_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help paths fim commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__paths__subcmd__flows_commands] )) ||
_rocescope__subcmd__help__subcmd__paths__subcmd__flows_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help paths flows commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__paths__subcmd__sflow_commands] )) ||
_rocescope__subcmd__help__subcmd__paths__subcmd__sflow_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help paths sflow commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__probe_commands] )) ||
_rocescope__subcmd__help__subcmd__probe_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help probe commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__repair_commands] )) ||
_rocescope__subcmd__help__subcmd__repair_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help repair commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__report_commands] )) ||
_rocescope__subcmd__help__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help report commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__restore-vlan-offload_commands] )) ||
_rocescope__subcmd__help__subcmd__restore-vlan-offload_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help restore-vlan-offload commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__schema_commands] )) ||
_rocescope__subcmd__help__subcmd__schema_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help schema commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__ship_commands] )) ||
_rocescope__subcmd__help__subcmd__ship_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help ship commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__sql_commands] )) ||
_rocescope__subcmd__help__subcmd__sql_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help sql commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__top_commands] )) ||
_rocescope__subcmd__help__subcmd__top_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help top commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__topology_commands] )) ||
_rocescope__subcmd__help__subcmd__topology_commands() {
    local commands; commands=(
'check:Check whether a topology contradicts itself' \
'show:Print the nodes, tiers and links of a topology' \
'convert:Convert a topology to another format' \
    )
    _describe -t commands 'rocescope help topology commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__topology__subcmd__check_commands] )) ||
_rocescope__subcmd__help__subcmd__topology__subcmd__check_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help topology check commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__topology__subcmd__convert_commands] )) ||
_rocescope__subcmd__help__subcmd__topology__subcmd__convert_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help topology convert commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__topology__subcmd__show_commands] )) ||
_rocescope__subcmd__help__subcmd__topology__subcmd__show_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help topology show commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__verify_commands] )) ||
_rocescope__subcmd__help__subcmd__verify_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help verify commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__hostping_commands] )) ||
_rocescope__subcmd__hostping_commands() {
    local commands; commands=(
'topology:Draw the links of a host, and list what looks wrong without a test' \
'run:Measure each NIC with each endpoint of this host by loopback WRITEs, and locate the abnormal link' \
'diagnose:Locate the abnormal link of a host from loopback measurements' \
'baseline:Print the baseline of a model of hosts\: the medians of healthy runs' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope hostping commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__hostping__subcmd__baseline_commands] )) ||
_rocescope__subcmd__hostping__subcmd__baseline_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope hostping baseline commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__hostping__subcmd__diagnose_commands] )) ||
_rocescope__subcmd__hostping__subcmd__diagnose_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope hostping diagnose commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__hostping__subcmd__help_commands] )) ||
_rocescope__subcmd__hostping__subcmd__help_commands() {
    local commands; commands=(
'topology:Draw the links of a host, and list what looks wrong without a test' \
'run:Measure each NIC with each endpoint of this host by loopback WRITEs, and locate the abnormal link' \
'diagnose:Locate the abnormal link of a host from loopback measurements' \
'baseline:Print the baseline of a model of hosts\: the medians of healthy runs' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope hostping help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__hostping__subcmd__help__subcmd__baseline_commands] )) ||
_rocescope__subcmd__hostping__subcmd__help__subcmd__baseline_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope hostping help baseline commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__hostping__subcmd__help__subcmd__diagnose_commands] )) ||
_rocescope__subcmd__hostping__subcmd__help__subcmd__diagnose_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope hostping help diagnose commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__hostping__subcmd__help__subcmd__help_commands] )) ||
_rocescope__subcmd__hostping__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope hostping help help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__hostping__subcmd__help__subcmd__run_commands] )) ||
_rocescope__subcmd__hostping__subcmd__help__subcmd__run_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope hostping help run commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__hostping__subcmd__help__subcmd__topology_commands] )) ||
_rocescope__subcmd__hostping__subcmd__help__subcmd__topology_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope hostping help topology commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__hostping__subcmd__run_commands] )) ||
_rocescope__subcmd__hostping__subcmd__run_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope hostping run commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__hostping__subcmd__topology_commands] )) ||
_rocescope__subcmd__hostping__subcmd__topology_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope hostping topology commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__man_commands] )) ||
_rocescope__subcmd__man_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope man commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__merge_commands] )) ||
_rocescope__subcmd__merge_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope merge commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths_commands] )) ||
_rocescope__subcmd__paths_commands() {
    local commands; commands=(
'flows:List the flows of a workload\: from captures, datasets, sockets or queue pairs' \
'sflow:Receive sFlow v5 datagrams of switches, and list the RoCEv2 flows in their samples' \
'discover:Find the paths of flows\: ask each switch for the egress port, hop by hop, over SSH' \
'fim:Compute how unevenly flows lie on the links of each layer (Flow Imbalance Metric)' \
'advise:Find source ports that would make the layers even, by asking the switches about other ports' \
'compare:Compare the loads of links and the paths of two runs' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope paths commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths__subcmd__advise_commands] )) ||
_rocescope__subcmd__paths__subcmd__advise_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope paths advise commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths__subcmd__compare_commands] )) ||
_rocescope__subcmd__paths__subcmd__compare_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope paths compare commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths__subcmd__discover_commands] )) ||
_rocescope__subcmd__paths__subcmd__discover_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope paths discover commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths__subcmd__fim_commands] )) ||
_rocescope__subcmd__paths__subcmd__fim_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope paths fim commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths__subcmd__flows_commands] )) ||
_rocescope__subcmd__paths__subcmd__flows_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope paths flows commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths__subcmd__help_commands] )) ||
_rocescope__subcmd__paths__subcmd__help_commands() {
    local commands; commands=(
'flows:List the flows of a workload\: from captures, datasets, sockets or queue pairs' \
'sflow:Receive sFlow v5 datagrams of switches, and list the RoCEv2 flows in their samples' \
'discover:Find the paths of flows\: ask each switch for the egress port, hop by hop, over SSH' \
'fim:Compute how unevenly flows lie on the links of each layer (Flow Imbalance Metric)' \
'advise:Find source ports that would make the layers even, by asking the switches about other ports' \
'compare:Compare the loads of links and the paths of two runs' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope paths help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths__subcmd__help__subcmd__advise_commands] )) ||
_rocescope__subcmd__paths__subcmd__help__subcmd__advise_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope paths help advise commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths__subcmd__help__subcmd__compare_commands] )) ||
_rocescope__subcmd__paths__subcmd__help__subcmd__compare_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope paths help compare commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths__subcmd__help__subcmd__discover_commands] )) ||
_rocescope__subcmd__paths__subcmd__help__subcmd__discover_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope paths help discover commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths__subcmd__help__subcmd__fim_commands] )) ||
_rocescope__subcmd__paths__subcmd__help__subcmd__fim_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope paths help fim commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths__subcmd__help__subcmd__flows_commands] )) ||
_rocescope__subcmd__paths__subcmd__help__subcmd__flows_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope paths help flows commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths__subcmd__help__subcmd__help_commands] )) ||
_rocescope__subcmd__paths__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope paths help help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths__subcmd__help__subcmd__sflow_commands] )) ||
_rocescope__subcmd__paths__subcmd__help__subcmd__sflow_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope paths help sflow commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__paths__subcmd__sflow_commands] )) ||
_rocescope__subcmd__paths__subcmd__sflow_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope paths sflow commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__probe_commands] )) ||
_rocescope__subcmd__probe_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope probe commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__repair_commands] )) ||
_rocescope__subcmd__repair_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope repair commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__report_commands] )) ||
_rocescope__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope report commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__restore-vlan-offload_commands] )) ||
_rocescope__subcmd__restore-vlan-offload_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope restore-vlan-offload commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__schema_commands] )) ||
_rocescope__subcmd__schema_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope schema commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__ship_commands] )) ||
_rocescope__subcmd__ship_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope ship commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__sql_commands] )) ||
_rocescope__subcmd__sql_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope sql commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__top_commands] )) ||
_rocescope__subcmd__top_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope top commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__topology_commands] )) ||
_rocescope__subcmd__topology_commands() {
    local commands; commands=(
'check:Check whether a topology contradicts itself' \
'show:Print the nodes, tiers and links of a topology' \
'convert:Convert a topology to another format' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope topology commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__topology__subcmd__check_commands] )) ||
_rocescope__subcmd__topology__subcmd__check_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope topology check commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__topology__subcmd__convert_commands] )) ||
_rocescope__subcmd__topology__subcmd__convert_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope topology convert commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__topology__subcmd__help_commands] )) ||
_rocescope__subcmd__topology__subcmd__help_commands() {
    local commands; commands=(
'check:Check whether a topology contradicts itself' \
'show:Print the nodes, tiers and links of a topology' \
'convert:Convert a topology to another format' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope topology help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__topology__subcmd__help__subcmd__check_commands] )) ||
_rocescope__subcmd__topology__subcmd__help__subcmd__check_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope topology help check commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__topology__subcmd__help__subcmd__convert_commands] )) ||
_rocescope__subcmd__topology__subcmd__help__subcmd__convert_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope topology help convert commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__topology__subcmd__help__subcmd__help_commands] )) ||
_rocescope__subcmd__topology__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope topology help help commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__topology__subcmd__help__subcmd__show_commands] )) ||
_rocescope__subcmd__topology__subcmd__help__subcmd__show_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope topology help show commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__topology__subcmd__show_commands] )) ||
_rocescope__subcmd__topology__subcmd__show_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope topology show commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__verify_commands] )) ||
_rocescope__subcmd__verify_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope verify commands' commands "$@"
}

if [ "$funcstack[1]" = "_rocescope" ]; then
    _rocescope "$@"
else
    compdef _rocescope rocescope
fi
