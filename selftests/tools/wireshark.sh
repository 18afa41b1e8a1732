#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The dissector and its recipes, on a capture made for them. Says what differs.

cd "$(dirname "$0")/../.." || exit 1
command -v tshark >/dev/null || { echo "# no tshark"; exit 1; }
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
STATUS=0

(cd tools && python3 -B - "$TMP") <<'END' || exit 1
import socket, struct, sys
from testbed.core import roce_packet as r

packets = []


def add(ms, packet):
    kind = b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"
    packets.append((ms, bytes(12) + kind + packet))


def data(ms, tos, src="10.0.0.1", dst="10.0.0.2"):
    add(ms, r.roce(src, dst, r.bth(0x0a, 0x12, 0xffff, ms) + bytes(1024), tos=tos, sport=1))


def cnp(ms, reserved=bytes(16), becn=1, src="10.0.0.2", dst="10.0.0.1"):
    add(ms, r.roce(src, dst, r.bth(0x81, 0x11, 0xffff, 0, becn=becn) + reserved, tos=0xc2, sport=0))


for i in range(10):
    data(i, 2)
data(10, 3)
data(11, 3)
cnp(12)
data(13, 2)
cnp(30, reserved=bytes(15) + b"\1")
cnp(40, reserved=bytes(8))
cnp(50, becn=0)
data(60, 3, "fd00::1", "fd00::2")
cnp(61, src="fd00::2", dst="fd00::1")
# as another implementation sent it
add(70, r.VECTOR)


def write(name, packets, snaplen=65535):
    with open("%s/%s.pcap" % (sys.argv[1], name), "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for ms, p in packets:
            f.write(struct.pack("<IIII", 1000 + ms // 1000, ms % 1000 * 1000,
                                min(snaplen, len(p)), len(p)) + p[:snaplen])


write("run", packets)
write("64", packets, snaplen=64)
write("50", packets, snaplen=50)
write("unmarked", packets[:10])
write("unordered", packets[:1] + packets[9:0:-1] + packets[10:])
write("empty", [])
other = bytearray(packets[0][1])
other[36:38] = struct.pack(">H", 5004)
write("other", [(0, bytes(other))])

# The same packets in tunnels, and mirrored, whose own headers say Not-ECT and other addresses
def ipv4(proto, payload, src="192.0.2.1", dst="192.0.2.2"):
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0, 64, proto, 0,
                       socket.inet_aton(src), socket.inet_aton(dst)) + payload


def ipv6(proto, payload):
    return struct.pack(">IHBB16s16s", 6 << 28, len(payload), proto, 64,
                       socket.inet_pton(socket.AF_INET6, "2001:db8::1"),
                       socket.inet_pton(socket.AF_INET6, "2001:db8::2")) + payload


def gre(kind, payload, sequence=None):
    flags = 0 if sequence is None else 0x1000
    return struct.pack(">HH", flags, kind) + \
        (b"" if sequence is None else struct.pack(">I", sequence)) + payload


def vxlan(frame, port=4789):
    payload = struct.pack(">BxxxI", 8, 7 << 8) + frame
    return struct.pack(">HHHH", 40000, port, 8 + len(payload), 0) + payload


def icmp(packet):
    return struct.pack(">BBHI", 3, 4, 0, 1500) + packet[:28]


run = packets
for name, outer in (
        ("vxlan", lambda f: ipv4(17, vxlan(f))),
        ("vxlan6", lambda f: ipv6(17, vxlan(f))),
        ("gre", lambda f: ipv4(47, gre(0x86dd if f[14] >> 4 == 6 else 0x800, f[14:]))),
        ("erspan1", lambda f: ipv4(47, gre(0x88be, f))),
        ("erspan2", lambda f: ipv4(47, gre(0x88be, struct.pack(">II", 1 << 28 | 100 << 16, 1) + f, 9))),
        ("erspan3", lambda f: ipv4(47, gre(0x22eb, struct.pack(">III", 2 << 28 | 100 << 16, 0, 0) + f,
                                           9)))):
    packets = []
    for ms, p in run:
        add(ms, outer(p))
    write(name, packets)
    write(name + "-160", packets, snaplen=160)
packets = run[:10]
add(10, ipv4(1, icmp(run[10][1][14:]), "10.0.0.9", "10.0.0.1"))
write("quoted", packets)
for many in 5000, 20000:
    packets = []
    for ms in range(many):
        cnp(ms) if ms % 10 == 9 else data(ms, 3 if ms % 10 == 5 else 2)
    write(many, packets, snaplen=64)
END

golden() # COMMAND <EXPECTED
{
	local diff

	# shellcheck disable=SC2086 # words
	diff=$(diff - <(tools/wireshark/roce $1 2>&1)) && return
	echo "# roce $1:"
	sed 's/^/#   /' <<<"$diff"
	STATUS=1
}

golden "ecn $TMP/run.pcap" <<'END'
       2  10.0.0.1 > 10.0.0.2	CE
      11  10.0.0.1 > 10.0.0.2	ECT(0)
       4  10.0.0.2 > 10.0.0.1	CNP ECT(0)
       1  22.22.22.8 > 22.22.22.7	CNP ECT(1)
       1  fd00::1 > fd00::2	CE
       1  fd00::2 > fd00::1	CNP ECT(0)
END
golden "ce $TMP/run.pcap" <<'END'
    0.010000  10.0.0.1 > 10.0.0.2  QP 0x000012 PSN 10, 1082 bytes
    0.011000  10.0.0.1 > 10.0.0.2  QP 0x000012 PSN 11, 1082 bytes
    0.060000  fd00::1 > fd00::2  QP 0x000012 PSN 60, 1102 bytes
END
golden "cnps $TMP/run.pcap" <<'END'
    0.012000  10.0.0.2 > 10.0.0.1  CNP QP 0x00000011 DSCP 48
    0.030000  10.0.0.2 > 10.0.0.1  CNP QP 0x00000011 DSCP 48 [reserved bytes not zero]
    0.040000  10.0.0.2 > 10.0.0.1  CNP QP 0x00000011 DSCP 48 [wrong length]
    0.050000  10.0.0.2 > 10.0.0.1  CNP QP 0x00000011 DSCP 48 [no BECN]
    0.061000  fd00::2 > fd00::1  CNP QP 0x00000011 DSCP 48
    0.070000  22.22.22.8 > 22.22.22.7  CNP QP 0x000000d2 DSCP 34
END
golden "timeline $TMP/run.pcap 10" <<'END'
    0.010000  CE   10.0.0.1 > 10.0.0.2  and 1 more
    0.012000  CNP  10.0.0.1 > 10.0.0.2  QP 0x00000011  8.7 -> 0.9 Mb/s
    0.030000  CNP  10.0.0.1 > 10.0.0.2  QP 0x00000011  0.0 -> 0.0 Mb/s
    0.040000  CNP  10.0.0.1 > 10.0.0.2  QP 0x00000011  0.0 -> 0.0 Mb/s
    0.050000  CNP  10.0.0.1 > 10.0.0.2  QP 0x00000011  0.0 -> 0.0 Mb/s
    0.060000  CE   fd00::1 > fd00::2
    0.061000  CNP  fd00::1 > fd00::2  QP 0x00000011  0.9 -> 0.0 Mb/s
    0.070000  CNP  22.22.22.7 > 22.22.22.8  QP 0x000000d2  0.0 -> 0.0 Mb/s
END

# In a tunnel or mirrored, cut or not, they are the same. What an ICMP error quotes is not RoCEv2.
for tunnel in vxlan vxlan6 gre erspan{1,2,3}; do
	golden "timeline $TMP/$tunnel.pcap" < <(tools/wireshark/roce timeline "$TMP/run.pcap")
	golden "ecn $TMP/$tunnel-160.pcap" < <(tools/wireshark/roce ecn "$TMP/run.pcap")
	golden "cnps $TMP/$tunnel-160.pcap" < <(tools/wireshark/roce cnps "$TMP/run.pcap")
done
golden "ecn $TMP/quoted.pcap" <<'END'
      10  10.0.0.1 > 10.0.0.2	ECT(0)
END
# pcapng of several interfaces, one of them mirrored
mergecap -w "$TMP/merged.pcapng" "$TMP/run.pcap" "$TMP/erspan2.pcap" "$TMP/vxlan6.pcap"
golden "ecn $TMP/merged.pcapng" < <(tools/wireshark/roce ecn "$TMP/run.pcap" |
	awk '{ printf("%8d%s\n", 3 * $1, substr($0, 9)) }')

# A capture has less of its packets: IPv6's headers leave no room for RoCEv2's in 64 bytes
golden "cnps $TMP/64.pcap" <<END
roce: $TMP/64.pcap: 2 of 20 RoCEv2 packets end within their first header (tcpdump -s 128 captures enough)
    0.012000  10.0.0.2 > 10.0.0.1  CNP QP 0x00000011 DSCP 48
    0.030000  10.0.0.2 > 10.0.0.1  CNP QP 0x00000011 DSCP 48
    0.040000  10.0.0.2 > 10.0.0.1  CNP QP 0x00000011 DSCP 48 [wrong length]
    0.050000  10.0.0.2 > 10.0.0.1  CNP QP 0x00000011 DSCP 48 [no BECN]
    0.070000  22.22.22.8 > 22.22.22.7  CNP QP 0x000000d2 DSCP 34
END
golden "timeline $TMP/unordered.pcap" < <(tools/wireshark/roce timeline "$TMP/run.pcap")

# An empty list is not an error, but the command says so
golden "ce $TMP/unmarked.pcap" <<END
roce: $TMP/unmarked.pcap: 10 RoCEv2 packets, none of them marked as CE
END
golden "cnps $TMP/unmarked.pcap" <<END
roce: $TMP/unmarked.pcap: 10 RoCEv2 packets, none of them a CNP
END
golden "timeline $TMP/unmarked.pcap" <<END
roce: $TMP/unmarked.pcap: 10 RoCEv2 packets, none of them marked as CE or a CNP
END
for command in ce cnps timeline; do
	tools/wireshark/roce $command "$TMP/unmarked.pcap" >"$TMP/out" 2>/dev/null && [ ! -s "$TMP/out" ] ||
		{ echo "# roce $command: status $? without any"; STATUS=1; }
done

# The time grows as the capture does: a square would be 16. Without that of tshark, whose output
# is a saved one.
mkdir "$TMP/bin"
cat >"$TMP/bin/tshark" <<END
#!/bin/sh
for saved; do case \$saved in *.pcap) break ;; esac; done
[ -e "\$saved.fields" ] || $(command -v tshark) "\$@" >"\$saved.fields"
exec cat "\$saved.fields"
END
chmod +x "$TMP/bin/tshark"
TIMEFORMAT=%U
for many in 5000 20000; do
	timeline=(env "PATH=$TMP/bin:$PATH" tools/wireshark/roce timeline "$TMP/$many.pcap")
	[ "$("${timeline[@]}" 2>/dev/null | grep -c "CNP .* [1-9]")" = $((many / 10)) ] ||
		{ echo "# $many packets: not all CNPs have a rate"; STATUS=1; }
	took+=("$({ time "${timeline[@]}" >/dev/null 2>&1; } 2>&1)")
done
awk -v a="${took[0]}" -v b="${took[1]}" 'BEGIN { exit b > 8 * a }' ||
	{ echo "# timeline of 5000 and of 20000 packets took ${took[*]} s"; STATUS=1; }

# refuses WORDS IN THE ERROR, ARGUMENTS...
refuses()
{
	local want=$1 got; shift

	got=$(tools/wireshark/roce "$@" 2>&1 >/dev/null) && { echo "# roce $*: succeeds"; STATUS=1; }
	[[ $got == "roce: "*$want* ]] || { echo "# roce $*: $got"; STATUS=1; }
}

[ "$(tools/wireshark/roce --help 2>/dev/null | grep -c '^roce ')" = 4 ] || { echo "# no help"; STATUS=1; }
refuses "a command is missing"
refuses '"nonesuch": no such command' nonesuch x
refuses "needs a capture file" ecn
refuses "/nonesuch: cannot be read" ce /nonesuch
refuses "milliseconds" timeline "$TMP/run.pcap" 1.5
for command in ecn ce cnps timeline; do
	for f in empty other; do
		refuses "$f.pcap: no RoCEv2 packet (UDP to port 4791) is in it" $command "$TMP/$f.pcap"
	done
	refuses "18 of 18 RoCEv2 packets end within" $command "$TMP/50.pcap"
	refuses "wireshark.sh: The file \"selftests/tools/wireshark.sh\" isn't a capture file" \
		$command selftests/tools/wireshark.sh
done
INFO=$(tshark -X lua_script:tools/wireshark/roce_cnp.lua -r "$TMP/run.pcap" -Y roce.cnp \
	-T fields -e _ws.col.Protocol -e _ws.col.Info 2>/dev/null | sort | uniq -c)
[ "$(grep -c "RRoCE	CNP QP=0x000011" <<<"$INFO")" = 2 ] || { echo "# $INFO"; STATUS=1; }
[ "$(tshark -X lua_script:tools/wireshark/roce_cnp.lua -r "$TMP/run.pcap" \
	-Y 'roce.cnp.bad_length || roce.cnp.bad_reserved || roce.cnp.no_becn' 2>/dev/null |
	wc -l)" = 3 ] || { echo "# expert information is missing"; STATUS=1; }
exit $STATUS
