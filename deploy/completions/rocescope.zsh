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
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
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
            (capture)
_arguments "${_arguments_options[@]}" : \
'(-i --interface)-r+[Capture file to read\: pcap or pcapng, plain, gzip or zstd; \`-\` for standard input]:FILE:_files' \
'(-i --interface)--read=[Capture file to read\: pcap or pcapng, plain, gzip or zstd; \`-\` for standard input]:FILE:_files' \
'(-r --read --out --duration --keep-frames)--check=[Look for so many seconds whether this is the right port, say so, and write nothing]:SECONDS:_default' \
'-o+[How the summary is printed]:OUTPUT:((table\:"For people"
json\:"One JSON object"))' \
'--output=[How the summary is printed]:OUTPUT:((table\:"For people"
json\:"One JSON object"))' \
'--filter=[Keep only packets for which this holds, such as \`host 10.0.0.1 and not service cnp\`]:EXPR:_default' \
'--anonymize=[Put other addresses in the place of all, by a key of 64 hexadecimal digits, or @ and a file that holds them; addresses with a common prefix keep one of the same length]:KEY:_default' \
'*--udp-port=[UDP destination port that carries RoCEv2; up to four]:PORT:_default' \
'*-i+[Interface to capture on; may be given several times]:IFACE:_default' \
'*--interface=[Interface to capture on; may be given several times]:IFACE:_default' \
'(-r --read)--mode=[How frames are taken; \`auto\` tries native, then generic XDP, then \`af-packet\`]:MODE:((auto\:"The first of the others that works"
native\:"XDP in the driver"
generic\:"XDP behind the driver"
af-packet\:"A packet socket"))' \
'(-r --read)--verdict=[What becomes of frames behind XDP; \`auto\` drops them where nothing uses the interface]:VERDICT:((auto\:"Dropped where the interface has no address, no master and no default route"
pass\:"It goes on to the kernel"
drop\:"It ends here"))' \
'(-r --read)--duration=[End after this time]:TIME:_default' \
'(-r --read)--vlan-offload=[VLAN tags that the card takes out of frames\: \`off\` has it leave them in, until the capture ends]:VLAN_OFFLOAD:((keep\:"It stays as it is"
off\:"Tags stay in the frames"))' \
'(-r --read)--ring-bytes=[Memory of the rings that XDP hands runs over in, all CPUs together; each has from 64 KiB to 32 MiB]:BYTES:_default' \
'(-r --read)--metrics=[Serve figures for Prometheus at this address, such as 127.0.0.1\:9464]:ADDRESS:_default' \
'(-r --read)--metrics-flows=[Flows in those figures\: the largest of the last window]:N:_default' \
'--out=[Write a Parquet dataset into this directory]:DIR:_files' \
'--segment-age=[A segment is sealed when its first rows are this old]:TIME:_default' \
'--segment-bytes=[A segment is sealed when it has this many bytes before compression]:BYTES:_default' \
'--keep-age=[Delete sealed segments whose hour ended longer ago than this, and such files of the flight recorder]:TIME:_default' \
'--keep-bytes=[Delete the oldest sealed segments when all together have more bytes than this]:BYTES:_default' \
'--keep-frames=[Hold the headers of this many seconds of frames in memory, and write a pcapng file around each NAK, RNR NAK and jitter event; on interfaces takes packet sockets]:SECONDS:_default' \
'--keep-frames-dir=[Where these files go; \`_frames\` in the dataset unless given]:DIR:_files' \
'--keep-frames-memory=[Memory for headers; when it is full the oldest go before their time]:BYTES:_default' \
'--keep-frames-disk=[These files have no more bytes than this, earlier ones too, of which the oldest make room]:BYTES:_default' \
'--keep-frames-per-hour=[Begin so many files in an hour at most]:N:_default' \
'--observer=[Name of this capture point, in every row and file name]:NAME:_default' \
'--window=[Length of a window of event time]:TIME:_default' \
'--lateness=[How long a window waits for frames that come out of order]:TIME:_default' \
'--top=[Top flows in the summary; connections and events printed at most]:N:_default' \
'--flow-rows=[Top flows of each window in the dataset]:N:_default' \
'--exact-flows=[Flows counted exactly, a window and in all; sketches take over beyond it]:N:_default' \
'--elephant=[Rate from which a flow is an elephant, in bits a second]:RATE:_default' \
'--jitter-relative=[Change between windows that is jitter, as a share of the rate before]:SHARE:_default' \
'--jitter-absolute=[Change between windows that is jitter, in bits a second]:RATE:_default' \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'--connections[Follow connections too\: loss, order and round trips of every queue pair]' \
'--verify-icrc[Verify the ICRC of every packet]' \
'-q[No progress bar]' \
'--quiet[No progress bar]' \
'--no-sketches[Leave bitmaps and Count-Min tables out of the dataset]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::command -- Run this command and end with it:_default' \
&& ret=0
;;
(completions)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
':shell -- The shell:(bash elvish fish powershell zsh)' \
&& ret=0
;;
(collect)
_arguments "${_arguments_options[@]}" : \
'--listen=[Where to listen]:ADDRESS:_default' \
'--out=[Dataset that all agents'\'' rows go into]:DIR:_files' \
'--cert=[The collector'\''s certificate (PEM)]:FILE:_files' \
'--key=[The key of the certificate (PEM)]:FILE:_files' \
'--client-ca=[Certificate of the authority that signs agents (PEM); an agent'\''s name is the first DNS name in its certificate]:FILE:_files' \
'--max-agents=[Agents at once]:N:_default' \
'--max-waiting=[Most bytes of rows that wait to be written; when there are more, agents wait]:BYTES:_default' \
'--duration=[End after this time]:TIME:_default' \
'--metrics=[Serve figures for Prometheus at this address, such as 127.0.0.1\:9465]:ADDRESS:_default' \
'--status=[How often a line says what was stored]:TIME:_default' \
'--observer=[Name of the collector, in file names and in the rows of its diagnosis]:NAME:_default' \
'--segment-age=[A segment is sealed when its first rows are this old]:TIME:_default' \
'--keep-age=[Delete sealed segments whose hour ended longer ago than this]:TIME:_default' \
'--keep-bytes=[Delete the oldest sealed segments when all together have more bytes than this]:BYTES:_default' \
'--topology=[Nodes and their addresses (TOML); without it every address is a node of its own]:FILE:_files' \
'--lateness=[A window is analysed this long after its end; rows that come later are stored and not analysed]:TIME:_default' \
'--scale=[Divide the lengths of windows by this\: for a mesh whose every time was divided so]:N:_default' \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'--no-sync[Acknowledge rows that the kernel has and the disk has not\: a loss of power may cost some]' \
'-q[Say nothing but what goes wrong]' \
'--quiet[Say nothing but what goes wrong]' \
'--diagnose[Analyse each window of 20 s as \`diagnose hostmesh\` does, say what fails, and write the tables \`sla\`, \`verdicts\` and \`links\`]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(config)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
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
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(check)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(template)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
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
'(-i --interface)-r+[Capture file to read\: pcap or pcapng, plain, gzip or zstd; \`-\` for standard input]:FILE:_files' \
'(-i --interface)--read=[Capture file to read\: pcap or pcapng, plain, gzip or zstd; \`-\` for standard input]:FILE:_files' \
'--filter=[Print only connections of which a direction is so, such as \`lost_gaps > 0 or qp 17\`]:EXPR:_default' \
'-o+[How connections are printed]:OUTPUT:((table\:"For people"
json\:"One JSON object"))' \
'--output=[How connections are printed]:OUTPUT:((table\:"For people"
json\:"One JSON object"))' \
'*--udp-port=[UDP destination port that carries RoCEv2; up to four]:PORT:_default' \
'*-i+[Interface to capture on; may be given several times]:IFACE:_default' \
'*--interface=[Interface to capture on; may be given several times]:IFACE:_default' \
'(-r --read)--mode=[How frames are taken; \`auto\` tries native, then generic XDP, then \`af-packet\`]:MODE:((auto\:"The first of the others that works"
native\:"XDP in the driver"
generic\:"XDP behind the driver"
af-packet\:"A packet socket"))' \
'(-r --read)--verdict=[What becomes of frames behind XDP; \`auto\` drops them where nothing uses the interface]:VERDICT:((auto\:"Dropped where the interface has no address, no master and no default route"
pass\:"It goes on to the kernel"
drop\:"It ends here"))' \
'(-r --read)--duration=[End after this time]:TIME:_default' \
'(-r --read)--vlan-offload=[VLAN tags that the card takes out of frames\: \`off\` has it leave them in, until the capture ends]:VLAN_OFFLOAD:((keep\:"It stays as it is"
off\:"Tags stay in the frames"))' \
'(-r --read)--ring-bytes=[Memory of the rings that XDP hands runs over in, all CPUs together; each has from 64 KiB to 32 MiB]:BYTES:_default' \
'(-r --read)--metrics=[Serve figures for Prometheus at this address, such as 127.0.0.1\:9464]:ADDRESS:_default' \
'(-r --read)--metrics-flows=[Flows in those figures\: the largest of the last window]:N:_default' \
'--observer=[Name of this capture point, in every row and file name]:NAME:_default' \
'--window=[Length of a window of event time]:TIME:_default' \
'--lateness=[How long a window waits for frames that come out of order]:TIME:_default' \
'--top=[Top flows in the summary; connections and events printed at most]:N:_default' \
'--flow-rows=[Top flows of each window in the dataset]:N:_default' \
'--exact-flows=[Flows counted exactly, a window and in all; sketches take over beyond it]:N:_default' \
'--elephant=[Rate from which a flow is an elephant, in bits a second]:RATE:_default' \
'--jitter-relative=[Change between windows that is jitter, as a share of the rate before]:SHARE:_default' \
'--jitter-absolute=[Change between windows that is jitter, in bits a second]:RATE:_default' \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'-q[No progress bar]' \
'--quiet[No progress bar]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'::dataset -- Dataset to read:_files' \
'*::command -- Run this command and end with it:_default' \
&& ret=0
;;
(demo)
_arguments "${_arguments_options[@]}" : \
'--out=[Where the dataset goes; what an earlier demo wrote there is replaced]:DIR:_files' \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(diagnose)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
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
'-o+[How the diagnosis is printed]:OUTPUT:((text\:"For people\: a line a problem"
json\:"One JSON object\: problems, and the rows of \`verdicts\` and \`sla\`"))' \
'--output=[How the diagnosis is printed]:OUTPUT:((text\:"For people\: a line a problem"
json\:"One JSON object\: problems, and the rows of \`verdicts\` and \`sla\`"))' \
'--topology=[Nodes and their addresses (TOML); without it every address is a node of its own]:FILE:_files' \
'--window=[Length of a window]:TIME:_default' \
'--sticky=[How long an anomalous NIC stays so after its window]:TIME:_default' \
'--scale=[Divide both by this\: for a mesh whose every time was divided so]:N:_default' \
'--most-ignored=[Drops in a window, as switch problems, that nobody votes on]:N:_default' \
'--observer=[Name of the analyzer in the rows that it writes]:NAME:_default' \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'--write[Write the tables \`sla\`, \`verdicts\` and \`links\` into the dataset]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':dataset -- Dataset with the tables `probes` and `paths`, as `rocescope probe` writes them:_files' \
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
'*-i+[Interface to look at; all but the loopback unless given]:IFACE:_default' \
'*--interface=[Interface to look at; all but the loopback unless given]:IFACE:_default' \
'-o+[How findings are printed]:OUTPUT:((table\:"For people"
json\:"One JSON object"))' \
'--output=[How findings are printed]:OUTPUT:((table\:"For people"
json\:"One JSON object"))' \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'--try[Attach a program that passes every frame, and detach it at once]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(extract)
_arguments "${_arguments_options[@]}" : \
'-r+[Capture file to read\: pcap or pcapng, plain, gzip or zstd; \`-\` for standard input]:FILE:_files' \
'--read=[Capture file to read\: pcap or pcapng, plain, gzip or zstd; \`-\` for standard input]:FILE:_files' \
'-w+[pcapng file to write; \`-\` for standard output]:FILE:_files' \
'--write=[pcapng file to write; \`-\` for standard output]:FILE:_files' \
'--filter=[Which packets, such as \`qp 17 and opcode *ACKNOWLEDGE*\`]:EXPR:_default' \
'*--udp-port=[UDP destination port that carries RoCEv2; up to four]:PORT:_default' \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'-q[No progress bar]' \
'--quiet[No progress bar]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(generate)
_arguments "${_arguments_options[@]}" : \
'(--iface)-w+[Capture file to write (pcap, nanoseconds); the truth goes to \`FILE.truth.json\`]:FILE:_files' \
'(--iface)--write=[Capture file to write (pcap, nanoseconds); the truth goes to \`FILE.truth.json\`]:FILE:_files' \
'--seed=[Seed\: the same one gives the same bytes]:N:_default' \
'--snaplen=[Bytes kept of each frame]:BYTES:_default' \
'--iface=[Interface to send on\: at the scenario'\''s own times, unless a rate is given]:IFACE:_default' \
'--pps=[Send the first 16,384 frames of the scenario over and over, so many a second]:N:_default' \
'--count=[End after so many frames]:N:_default' \
'--duration=[End after this time]:TIME:_default' \
'--by=[How frames get into the kernel; \`auto\` makes live frames from 50,000 a second on]:BY:((auto\:"Whatever suits the rate and the frames"
live\:"Packets that the kernel makes, filled by an XDP program; takes a core"
packet\:"A packet socket"))' \
'-o+[How the result is printed]:OUTPUT:((table\:"For people"
json\:"One JSON object"))' \
'--output=[How the result is printed]:OUTPUT:((table\:"For people"
json\:"One JSON object"))' \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'(--pps)--full-speed[The same, as fast as the kernel takes them]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':scenario -- Scenario file (TOML); `docs/scenarios.md` explains every key:_files' \
&& ret=0
;;
(man)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
':out -- Directory for the pages, one a command; it is made where it is missing:_files' \
&& ret=0
;;
(merge)
_arguments "${_arguments_options[@]}" : \
'--out=[Where the merged dataset goes]:DIR:_files' \
'--observer=[Name of the capture point in the merged rows and file names]:NAME:_default' \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
'*::datasets -- The datasets, captured with equal windows, thresholds and sketches. Each is taken to hold other packets\: one that passed two boxes counts twice:_files' \
&& ret=0
;;
(probe)
_arguments "${_arguments_options[@]}" : \
'(--all)*-i+[NIC to probe from and to; two at least]:NIC:_default' \
'(--all)*--interface=[NIC to probe from and to; two at least]:NIC:_default' \
'--observer=[Name of this host, in every row and file name; unless given, its host name]:NAME:_default' \
'--duration=[End after this time]:TIME:_default' \
'-o+[How the summary is printed]:OUTPUT:((table\:"For people"
json\:"One JSON object"))' \
'--output=[How the summary is printed]:OUTPUT:((table\:"For people"
json\:"One JSON object"))' \
'--backend=[How probes get out and in]:BACKEND:((raw\:"As frames over packet sockets\: any Ethernet NIC"
verbs\:"By UD queue pairs of RDMA NICs, which stamp them; paths are not traced"))' \
'--interval=[Between two probes of a NIC]:TIME:_default' \
'--timeout=[A probe that takes longer is lost]:TIME:_default' \
'--port=[UDP destination port; unless given 4791, or 47910 where a NIC is an RDMA device, which would keep 4791 for itself]:PORT:_default' \
'--source-ports=[UDP source ports of a NIC, drawn by chance]:N:_default' \
'--renew=[How long a source port is used]:TIME:_default' \
'--max-cpu=[Share of a core beyond which the interval is doubled]:SHARE:_default' \
'--seed=[Seed of all chance; unless given, another each time]:N:_default' \
'--paths-rate=[Traces a second and NIC; 0 for none]:N:_default' \
'--icmp-rate=[Answers a second that any one hop is asked for]:N:_default' \
'--max-hops=[Hops of the longest path that is looked for]:N:_default' \
'--refresh=[A path that stays is written again after this time]:TIME:_default' \
'--window=[How often a line says what was seen]:TIME:_default' \
'--out=[Write a Parquet dataset into this directory]:DIR:_files' \
'--segment-age=[A segment is sealed when its first rows are this old]:TIME:_default' \
'--keep-age=[Delete sealed segments whose hour ended longer ago than this]:TIME:_default' \
'--keep-bytes=[Delete the oldest sealed segments when all together have more bytes than this]:BYTES:_default' \
'--collector=[Send rows to \`rocescope collect\`, as in \`https\://collector.example\:4792\`]:URL:_default' \
'--cert=[The agent'\''s certificate (PEM), whose first DNS name is the observer]:FILE:_files' \
'--key=[The key of the certificate (PEM)]:FILE:_files' \
'--ca=[Certificate of the authority that signed the collector'\''s (PEM)]:FILE:_files' \
'--spool=[Directory for rows that the collector has not acknowledged]:DIR:_files' \
'--spool-bytes=[Most bytes of the spool; when it is full its oldest rows go]:BYTES:_default' \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'--all[Every Ethernet interface that is up and has an address; with \`--backend verbs\`, of those the RDMA devices]' \
'-q[Say nothing until the summary]' \
'--quiet[Say nothing until the summary]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(repair)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
':dataset -- The dataset:_files' \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
'-o+[How the report is printed; \`text\`, unless \`--html\` alone is asked for]:OUTPUT:((text\:"For terminals"
markdown\:"For issues and wikis"
json\:"One JSON object"
csv\:"One table, see \`--table\`"))' \
'--output=[How the report is printed; \`text\`, unless \`--html\` alone is asked for]:OUTPUT:((text\:"For terminals"
markdown\:"For issues and wikis"
json\:"One JSON object"
csv\:"One table, see \`--table\`"))' \
'--table=[The table that \`-o csv\` prints]:TABLE:((flows\:"The largest flows"
connections\:"The connections with most trouble, a row a direction"
opcodes\:"All opcodes"
events\:"The most telling events of each kind"
windows\:"Windows, at most 1,000\: of more, neighbours are joined"
pairs\:"The pairs of NICs that probed each other"
sla\:"How well the mesh of probes did over time"
verdicts\:"What fails in it\: the last verdict of each problem"
links\:"Its links, summed over time"))' \
'--html=[Write one HTML page with charts, which opens without a network]:FILE:_files' \
'--from=[Windows and events from this time on, in UTC, such as 2026-11-21T02\:30\:09Z]:TIME:_default' \
'--to=[Windows and events before this time]:TIME:_default' \
'--top=[Rows of each list]:N:_default' \
'--filter=[Flows, connections and events for which this holds, such as \`host 10.0.0.1\`]:EXPR:_default' \
'--observer=[Rows of this capture point alone]:NAME:_default' \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':dataset -- The dataset:_files' \
&& ret=0
;;
(schema)
_arguments "${_arguments_options[@]}" : \
'-o+[How it is printed]:OUTPUT:((table\:"For people"
json\:"For programs"
markdown\:"The page \`docs/formats.md\`"))' \
'--output=[How it is printed]:OUTPUT:((table\:"For people"
json\:"For programs"
markdown\:"The page \`docs/formats.md\`"))' \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(restore-vlan-offload)
_arguments "${_arguments_options[@]}" : \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
':interface -- Index of the interface:_default' \
&& ret=0
;;
(top)
_arguments "${_arguments_options[@]}" : \
'(-i --interface)-r+[Capture file to play\: pcap or pcapng, plain, gzip or zstd; \`-\` for standard input]:FILE:_files' \
'(-i --interface)--read=[Capture file to play\: pcap or pcapng, plain, gzip or zstd; \`-\` for standard input]:FILE:_files' \
'--speed=[How fast a file or dataset is played\: 1 as recorded, 10 ten times as fast, \`max\`]:N:_default' \
'(-i --interface)--at=[Begin with the window of this time, such as \`2026-01-01T09\:30\:00Z\`]:TIME:_default' \
'--filter=[Keep only packets for which this holds; of a dataset, show only such rows]:EXPR:_default' \
'*--udp-port=[UDP destination port that carries RoCEv2; up to four]:PORT:_default' \
'--sort=[Column by which flows are sorted first, also where they are printed]:COLUMN:_default' \
'--fps=[Times a second that the screen is painted at most]:N:_default' \
'--theme=[Colours; without it those for a dark terminal, and none where the variable \`NO_COLOR\` is set]:THEME:((dark\:"For a dark terminal"
light\:"For a bright one"
none\:"None"))' \
'*--bind=[Give a key to an action, such as \`quit=ctrl-q\`; the help page (\`?\`) lists the actions'\'' keys]:ACTION=KEY:_default' \
'--windows=[Print so many windows]:N:_default' \
'-o+[How they are printed]:OUTPUT:((table\:"For people\: its sums, and the first rows of a table"
json\:"One JSON object a window and line, with the rows of every table"
csv\:"The rows of a table under the names of its columns, all of them, as RFC 4180 has it"))' \
'--output=[How they are printed]:OUTPUT:((table\:"For people\: its sums, and the first rows of a table"
json\:"One JSON object a window and line, with the rows of every table"
csv\:"The rows of a table under the names of its columns, all of them, as RFC 4180 has it"))' \
'--table=[The table of \`table\` and \`csv\`; without it \`flows\`, or \`pairs\` where there are probes alone]:TABLE:((flows\:"Top flows"
opcodes\:"Opcode mix"
connections\:"Each direction of each connection"
events\:"Events"
windows\:"The sums"
pairs\:"Of a dataset with probes, the pairs of NICs"
sla\:"How well the mesh of probes did"
verdicts\:"What fails in it"
links\:"Its links"))' \
'*-i+[Interface to capture on; may be given several times]:IFACE:_default' \
'*--interface=[Interface to capture on; may be given several times]:IFACE:_default' \
'(-r --read)--mode=[How frames are taken; \`auto\` tries native, then generic XDP, then \`af-packet\`]:MODE:((auto\:"The first of the others that works"
native\:"XDP in the driver"
generic\:"XDP behind the driver"
af-packet\:"A packet socket"))' \
'(-r --read)--verdict=[What becomes of frames behind XDP; \`auto\` drops them where nothing uses the interface]:VERDICT:((auto\:"Dropped where the interface has no address, no master and no default route"
pass\:"It goes on to the kernel"
drop\:"It ends here"))' \
'(-r --read)--duration=[End after this time]:TIME:_default' \
'(-r --read)--vlan-offload=[VLAN tags that the card takes out of frames\: \`off\` has it leave them in, until the capture ends]:VLAN_OFFLOAD:((keep\:"It stays as it is"
off\:"Tags stay in the frames"))' \
'(-r --read)--ring-bytes=[Memory of the rings that XDP hands runs over in, all CPUs together; each has from 64 KiB to 32 MiB]:BYTES:_default' \
'(-r --read)--metrics=[Serve figures for Prometheus at this address, such as 127.0.0.1\:9464]:ADDRESS:_default' \
'(-r --read)--metrics-flows=[Flows in those figures\: the largest of the last window]:N:_default' \
'--observer=[Name of this capture point, in every row and file name]:NAME:_default' \
'--window=[Length of a window of event time]:TIME:_default' \
'--lateness=[How long a window waits for frames that come out of order]:TIME:_default' \
'--top=[Top flows in the summary; connections and events printed at most]:N:_default' \
'--flow-rows=[Top flows of each window in the dataset]:N:_default' \
'--exact-flows=[Flows counted exactly, a window and in all; sketches take over beyond it]:N:_default' \
'--elephant=[Rate from which a flow is an elephant, in bits a second]:RATE:_default' \
'--jitter-relative=[Change between windows that is jitter, as a share of the rate before]:SHARE:_default' \
'--jitter-absolute=[Change between windows that is jitter, in bits a second]:RATE:_default' \
'--config=[Configuration file (TOML); without it \`/etc/rocescope/rocescope.toml\`, where there is one]:FILE:_files' \
'--connections[Follow connections on interfaces too; of a file they always are]' \
'--bytes[Rates in bytes a second instead of bits, on the screen and in text tables]' \
'--ascii[ASCII characters alone; chosen by itself where the locale is not UTF-8]' \
'--mouse[Rows, headings and tabs are chosen by the mouse too]' \
'--once[Print a window and end; of a file or dataset the first one]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'::dataset -- Dataset to step through:_files' \
'*::command -- Run this command and end with it:_default' \
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
(man)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(merge)
_arguments "${_arguments_options[@]}" : \
&& ret=0
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
(top)
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
'capture:Read a capture file or interfaces\: top flows, opcode mix, and a Parquet dataset' \
'completions:Print a script that completes commands and options in a shell' \
'collect:Take the rows of agents over the network into one dataset, and say what fails' \
'config:Print, check or make a configuration file' \
'connections:Print what each queue pair did\: loss, order, latency, congestion' \
'demo:Show the whole path at work, without privileges or input' \
'diagnose:Find what fails, and where, in what a dataset holds' \
'doctor:Say what stands in the way of a capture on this machine, and what mends it' \
'extract:Write the frames of a capture file that a filter wants into another' \
'generate:Write deterministic RoCEv2 traffic from a scenario, with its truth beside it' \
'man:Write the manual pages' \
'merge:Join the datasets of several boxes, window by window' \
'probe:Probe between the NICs of this host\: loss and latency one way, and the paths' \
'repair:Seal what a killed capture left in a dataset, and name what does not read' \
'report:Sum a dataset up\: for people, for programs, or as one HTML page with charts' \
'schema:Print the tables of the dataset and their columns' \
'restore-vlan-offload:Have a card take VLAN tags out again when standard input ends' \
'top:Watch flows, opcodes, connections and events on a terminal' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope commands' commands "$@"
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
(( $+functions[_rocescope__subcmd__completions_commands] )) ||
_rocescope__subcmd__completions_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope completions commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__config_commands] )) ||
_rocescope__subcmd__config_commands() {
    local commands; commands=(
'print:Print every setting as it stands, and where it comes from' \
'check:Read the configuration file and say whether all is right with it' \
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
'print:Print every setting as it stands, and where it comes from' \
'check:Read the configuration file and say whether all is right with it' \
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
(( $+functions[_rocescope__subcmd__demo_commands] )) ||
_rocescope__subcmd__demo_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope demo commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__diagnose_commands] )) ||
_rocescope__subcmd__diagnose_commands() {
    local commands; commands=(
'hostmesh:Find the NIC, link or switch that fails, from probes between the NICs of hosts and their paths' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope diagnose commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__diagnose__subcmd__help_commands] )) ||
_rocescope__subcmd__diagnose__subcmd__help_commands() {
    local commands; commands=(
'hostmesh:Find the NIC, link or switch that fails, from probes between the NICs of hosts and their paths' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope diagnose help commands' commands "$@"
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
(( $+functions[_rocescope__subcmd__diagnose__subcmd__hostmesh_commands] )) ||
_rocescope__subcmd__diagnose__subcmd__hostmesh_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope diagnose hostmesh commands' commands "$@"
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
'capture:Read a capture file or interfaces\: top flows, opcode mix, and a Parquet dataset' \
'completions:Print a script that completes commands and options in a shell' \
'collect:Take the rows of agents over the network into one dataset, and say what fails' \
'config:Print, check or make a configuration file' \
'connections:Print what each queue pair did\: loss, order, latency, congestion' \
'demo:Show the whole path at work, without privileges or input' \
'diagnose:Find what fails, and where, in what a dataset holds' \
'doctor:Say what stands in the way of a capture on this machine, and what mends it' \
'extract:Write the frames of a capture file that a filter wants into another' \
'generate:Write deterministic RoCEv2 traffic from a scenario, with its truth beside it' \
'man:Write the manual pages' \
'merge:Join the datasets of several boxes, window by window' \
'probe:Probe between the NICs of this host\: loss and latency one way, and the paths' \
'repair:Seal what a killed capture left in a dataset, and name what does not read' \
'report:Sum a dataset up\: for people, for programs, or as one HTML page with charts' \
'schema:Print the tables of the dataset and their columns' \
'restore-vlan-offload:Have a card take VLAN tags out again when standard input ends' \
'top:Watch flows, opcodes, connections and events on a terminal' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'rocescope help commands' commands "$@"
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
(( $+functions[_rocescope__subcmd__help__subcmd__completions_commands] )) ||
_rocescope__subcmd__help__subcmd__completions_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help completions commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__config_commands] )) ||
_rocescope__subcmd__help__subcmd__config_commands() {
    local commands; commands=(
'print:Print every setting as it stands, and where it comes from' \
'check:Read the configuration file and say whether all is right with it' \
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
(( $+functions[_rocescope__subcmd__help__subcmd__demo_commands] )) ||
_rocescope__subcmd__help__subcmd__demo_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help demo commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__diagnose_commands] )) ||
_rocescope__subcmd__help__subcmd__diagnose_commands() {
    local commands; commands=(
'hostmesh:Find the NIC, link or switch that fails, from probes between the NICs of hosts and their paths' \
    )
    _describe -t commands 'rocescope help diagnose commands' commands "$@"
}
(( $+functions[_rocescope__subcmd__help__subcmd__diagnose__subcmd__hostmesh_commands] )) ||
_rocescope__subcmd__help__subcmd__diagnose__subcmd__hostmesh_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help diagnose hostmesh commands' commands "$@"
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
(( $+functions[_rocescope__subcmd__help__subcmd__top_commands] )) ||
_rocescope__subcmd__help__subcmd__top_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope help top commands' commands "$@"
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
(( $+functions[_rocescope__subcmd__top_commands] )) ||
_rocescope__subcmd__top_commands() {
    local commands; commands=()
    _describe -t commands 'rocescope top commands' commands "$@"
}

if [ "$funcstack[1]" = "_rocescope" ]; then
    _rocescope "$@"
else
    compdef _rocescope rocescope
fi
