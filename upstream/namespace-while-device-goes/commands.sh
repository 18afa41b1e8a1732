# SPDX-License-Identifier: GPL-2.0
# Network devices go, and their rxe devices with them, while network namespaces are made. With
# fewer at once, none of them waits for the RTNL at the wrong time.
come_and_go() # NUMBER
{
	for _ in 1 2 3 4; do
		ip link add near$1 up type dummy
		rdma link add rxe$1 type rxe netdev near$1
		ip link del near$1
		while [ -e /sys/class/infiniband/rxe$1 ]; do sleep 0.001; done
	done
}

make() # NUMBER
{
	while [ ! -e /run/ended ]; do
		if said=$(ip netns add new$1 2>&1); then
			ip netns del new$1
		else
			echo "FAULT: ip netns add: $said"
			touch /run/ended
		fi
		sleep 0.001
	done
}

for i in $(seq 8); do
	make $i &
	come_and_go $i &
	jobs="$jobs $!"
done
wait $jobs
touch /run/ended
wait
