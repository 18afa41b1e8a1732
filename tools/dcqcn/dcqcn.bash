# SPDX-License-Identifier: GPL-2.0
# bash completion of dcqcn(8)

# Names in a directory, quoted: a device may be called $(reboot)
_dcqcn_names() # DIRECTORY
{
	local d

	for d in "$1"/*; do
		[ -e "$d" ] && printf '%q\n' "${d##*/}"
	done
}

_dcqcn_devs() { _dcqcn_names /sys/class/infiniband; }
_dcqcn_netdevs() { _dcqcn_names /sys/class/net; }

# The knobs that the module has
_dcqcn_knobs() { _dcqcn_knobs_in /sys/class/net; }

_dcqcn_knobs_in() # DIRECTORY
{
	local f

	for f in "$1"/*/ecn/roce_?p/*; do
		case $f in
		*/roce_np/enable)	echo np_enable ;;
		*/roce_rp/enable)	echo rp_enable ;;
		*/cc_available|*\*)	;;
		*)			echo "${f##*/}" ;;
		esac
	done | sort -u
}

# Those that begin like the current word. compgen -W would execute $(...) in them.
_dcqcn_words() # WORDS
{
	local words word

	COMPREPLY=()
	read -rd '' -a words <<<"$1"
	for word in "${words[@]}"; do
		[[ $word != "${COMP_WORDS[COMP_CWORD]}"* ]] || COMPREPLY+=("$word")
	done
}

# What follows "port", whose WORDS are those after it up to the cursor
_dcqcn_port() # WORDS...
{
	local place=$# prev=${*: -1}
	local keys="rate delay overhead pfc trust strict switch reserve xoff xon xon_offset headroom
		action detect restore mark dscp pcp default stamp prio"
	local class="weight limit kmin kmax pmax flows_min flows_max wred share maxrate tc
		reserve xoff xon xon_offset headroom alpha prio" w

	case $place:$1:$prev in
	0:*)			_dcqcn_words "show stat watch record set clear save restore switch help" ;;
	*:dev)			_dcqcn_words "$(_dcqcn_netdevs)" ;;
	1:switch:*)		_dcqcn_words "show new set del help" ;;
	1:watch:*)		_dcqcn_words "-i -n dev help" ;;
	*:watch:-[in])		COMPREPLY=() ;;
	*:watch:*)		_dcqcn_words "-i -n dev" ;;
	1:record:*)		_dcqcn_words "-i -d -o dev help" ;;
	*:record:-o)		mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}") ;;
	*:record:-[id])		COMPREPLY=() ;;
	*:record:*)		_dcqcn_words "-i -d -o dev" ;;
	1:*)			_dcqcn_words "dev help" ;;
	1:stat:*)		_dcqcn_words "--as dev help" ;;
	*:stat:--as)		_dcqcn_words ethtool ;;
	*:stat:*)		_dcqcn_words dev ;;
	1:save:*)		_dcqcn_words "-o dev help" ;;
	*:save:-o|*:restore:*)	mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}") ;;
	*:save:*)		_dcqcn_words "-o dev" ;;
	*:set:action)		_dcqcn_words "off alert forward drop" ;;
	*:set:detect|*:set:restore)	_dcqcn_words auto ;;
	*:set:trust)		_dcqcn_words "dscp pcp dscp,pcp pcp,dscp none" ;;
	*:set:pfc|*:set:strict)	_dcqcn_words "all none" ;;
	*:set:mark)		_dcqcn_words "enqueue dequeue" ;;
	*:set:wred|*:set:stamp)	_dcqcn_words "on off" ;;
	*:set:*)
		# set dev DEV KEY VALUE ... prio PRIO KEY VALUE ...
		[ $((place % 2)) = 1 ] || return
		for w in "$@"; do
			[ "$w" != prio ] || keys=$class
		done
		_dcqcn_words "$keys" ;;
	*:switch:*)
		[ $((place % 2)) = 0 ] || [[ $2 == del ]] || _dcqcn_words "size lossy alpha" ;;
	esac
}

_dcqcn_model() # PREVIOUS
{
	local keys="speed tiers spine_speed core_speed cable spine_cable core_cable switch_delay
		host_delay rtt mtu congested_hops flows senders uplinks window host_queue ack message
		timeout stagger burst burst_bytes burst_flows burst_period sizes load profile
		algorithm max_rate g gd alpha_period timer byte_counter recovery_steps ai hai cnp_interval cnp_cap
		monitor kmin kmax pmax graduated buffer reserve alpha ports lossless pfc xoff xon headroom
		response_quanta stop flows_min flows_max sample utilisation react duration seed"

	case $1 in
	--preset)	_dcqcn_words "100g-leaf 400g-ai 800g-superpod lab-48m" ;;
	--config)	_dcqcn_words "dcbport tc host sonic other" ;;
	--sweep)	COMPREPLY=() ;;
	profile)	_dcqcn_words "auto mlx5 sigcomm15" ;;
	algorithm)	_dcqcn_words "dcqcn swift timely dctcp fast aimd" ;;
	burst)		_dcqcn_words "none allreduce replication inference own" ;;
	sizes)		_dcqcn_words "none hadoop storage websearch" ;;
	pfc|graduated)	_dcqcn_words "no yes" ;;
	*)		_dcqcn_words "-o --preset --config --sweep --simulate help $keys" ;;
	esac
}

_dcqcn()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local commands="show qp ccc stat watch set profile cc save restore record plot doctor try port model help"
	local command="" i=1

	COMPREPLY=()
	while [ $i -lt "$COMP_CWORD" ]; do
		case ${COMP_WORDS[i]} in
		-*)	i=$((i + 1)) ;;
		*)	command=${COMP_WORDS[i]}; break ;;
		esac
	done
	if [ -z "$command" ]; then
		_dcqcn_words "-json -pretty -Version -help $commands"
		return
	fi
	case $prev in
	dev)
		case $command in
		port)	_dcqcn_words "$(_dcqcn_netdevs)" ;;
		doctor)	_dcqcn_words "$(_dcqcn_devs) $(_dcqcn_netdevs)" ;;
		*)	_dcqcn_words "$(_dcqcn_devs)" ;;
		esac
		return ;;
	-o)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return ;;
	--from)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return ;;
	--as)
		if [ "$command" != port ]; then
			_dcqcn_words "ecn cc_params mlxconfig"
			return
		fi ;;
	-i|-d|-n|--peer|--rate|--loss|--delay|qpn)
		return ;;
	esac
	case $command in
	show)	_dcqcn_words "--as dev help" ;;
	ccc)	_dcqcn_words "dev help" ;;
	save)	_dcqcn_words "-o dev help" ;;
	stat)	_dcqcn_words "-i dev help" ;;
	qp)	_dcqcn_words "dev qpn help" ;;
	watch)	_dcqcn_words "-i -n dev qpn help" ;;
	record)	_dcqcn_words "-i -d -o dev qpn help" ;;
	doctor)	_dcqcn_words "--peer --serve -i dev help" ;;
	try)	_dcqcn_words "--check -d --rate --loss --delay --load --stock help" ;;
	set)
		# set [--from FILE] dev DEV [KNOB VALUE ...]
		[ "${COMP_WORDS[i + 1]}" != --from ] || i=$((i + 2))
		case $((COMP_CWORD - i)):$prev in
		1:*)			_dcqcn_words "--from dev help" ;;
		*[13579]:*)		_dcqcn_words "$(_dcqcn_knobs)" ;;
		*:[nr]p_enable)		_dcqcn_words "all none" ;;
		esac ;;
	profile)
		case $((COMP_CWORD - i)):${COMP_WORDS[i + 1]} in
		1:*)		_dcqcn_words "list show apply help" ;;
		2:show|2:apply)	_dcqcn_words "auto mlx5 sigcomm15" ;;
		3:apply)	_dcqcn_words dev ;;
		esac ;;
	cc)
		case $((COMP_CWORD - i)):${COMP_WORDS[i + 1]} in
		1:*)		_dcqcn_words "list use load unload help" ;;
		2:load)		mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
		2:use)		_dcqcn_words "dcqcn swift timely dctcp fast fast-oneway hpcc powertcp" ;;
		3:use)		_dcqcn_words dev ;;
		esac ;;
	model)
		_dcqcn_model "$prev" ;;
	port)
		_dcqcn_port "${COMP_WORDS[@]:i + 1:COMP_CWORD - i - 1}" ;;
	restore)
		_dcqcn_words dev
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur") ;;
	plot)
		[[ $cur != -* ]] || _dcqcn_words -o
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur") ;;
	esac
}

complete -F _dcqcn dcqcn
