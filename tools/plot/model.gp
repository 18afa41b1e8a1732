# SPDX-License-Identifier: GPL-2.0
#
# What "dcqcn model -o" draws: the curve with the operating point, the queue over time, and
# the headroom. The command sets: svg, style (the path of style.gp); kmin, kmax, mean, p5,
# p95 (bytes), marked, flows; frames, pause, cable, response, room (bytes; 0 without PFC);
# $curve, $samples.

height = room > 0 ? 900 : 700
load style

set multiplot layout (room > 0 ? 3 : 2), 1
KB = 1e3
big(q) = q / KB

set title "marks by queue, and where flows settle"
set xlabel "queue, KB"
set ylabel "marked, %"
set xrange [0:1.25 * big(kmax)]
set key outside top horizontal
plot $curve using (big($1)):(100 * $2) with lines lw 2 title "curve", \
	'+' using (big(mean)):(100 * marked):(big(p5)):(big(p95)) every ::0::0 \
		with xerrorbars pt 7 lw 2 title "mean queue and marks, 5 to 95 % of the time"

set title "queue over time"
set xlabel "time, ms"
set ylabel "queue, KB"
set xrange [0:*]
set key outside top horizontal
plot $samples using ($1 / 1e3):(big($2)) with lines title "longest", \
	big(kmin) with lines dt 2 title "Kmin", big(kmax) with lines dt 2 title "Kmax"

if (room > 0) {
	set title "headroom"
	set xlabel "KB"
	unset ylabel
	unset ytics
	set yrange [0:3]
	set xrange [0:1.1 * big(room > frames + pause + cable + response ? room : \
			       frames + pause + cable + response)]
	set style fill solid 0.7
	set key outside top horizontal
	a = big(frames); b = a + big(pause); c = b + big(cable); d = c + big(response)
	set object 1 rectangle from 0,0.5 to a,1.5 fc rgb "#4477aa"
	set object 2 rectangle from a,0.5 to c,1.5 fc rgb "#ccbb44"
	set object 3 rectangle from c,0.5 to d,1.5 fc rgb "#aa3377"
	set object 4 rectangle from 0,1.7 to big(room),2.3 fc rgb "#228833"
	plot NaN with boxes fc rgb "#228833" title "given", \
		NaN with boxes fc rgb "#4477aa" title "frames", \
		NaN with boxes fc rgb "#ccbb44" title "pause and cable", \
		NaN with boxes fc rgb "#aa3377" title "response"
}
unset multiplot
