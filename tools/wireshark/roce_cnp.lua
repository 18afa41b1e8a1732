-- SPDX-License-Identifier: GPL-2.0
--
-- RoCEv2 congestion notification in Wireshark: names CNPs, which its own
-- dissector calls unknown, shows FECN and BECN of every packet, and says what
-- is wrong with a CNP. In a tunnel or a mirrored packet (VXLAN, GRE, ERSPAN), the
-- innermost headers count: the outer ones belong to the tunnel.
--
--     tshark -X lua_script:roce_cnp.lua -r run.pcap -Y roce.cnp
--
-- or copy it to ~/.local/lib/wireshark/plugins/.

local roce = Proto("roce", "RoCEv2 congestion")

local OPCODE_CNP = 0x81
local BTH_LEN = 12
local RESERVED_LEN = 16
local ICRC_LEN = 4
local ROCE_PORT = 4791
local ETH_LEN = 14
local IP6_LEN = 40
local UDP_LEN = 8

local f_src = ProtoField.string("roce.src", "Source")
local f_dst = ProtoField.string("roce.dst", "Destination")
local f_ecn = ProtoField.uint8("roce.ecn", "ECN", base.DEC,
	{ [0] = "Not-ECT", [1] = "ECT(1)", [2] = "ECT(0)", [3] = "CE" })
local f_len = ProtoField.uint32("roce.len", "Bytes, with one Ethernet header and without tunnels")
local f_fecn = ProtoField.bool("roce.fecn", "FECN", 8, nil, 0x80,
	"Met congestion on the way forward")
local f_becn = ProtoField.bool("roce.becn", "BECN", 8, nil, 0x40,
	"Tells of congestion on the way back")
local f_ce = ProtoField.bool("roce.ce", "CE", base.NONE, nil, nil,
	"A switch has marked it: congestion experienced")
local f_cnp = ProtoField.bool("roce.cnp", "Congestion notification packet")
local f_qpn = ProtoField.uint32("roce.cnp.qpn", "QP to slow down", base.HEX)
local f_pkey = ProtoField.uint16("roce.cnp.pkey", "P_Key", base.HEX)
local f_dscp = ProtoField.uint8("roce.cnp.dscp", "DSCP")
local f_length = ProtoField.bool("roce.cnp.length_right", "Length is right")
local f_reserved = ProtoField.bytes("roce.cnp.reserved", "Reserved")
local f_reserved_zero = ProtoField.bool("roce.cnp.reserved_zero",
	"Reserved bytes are zero")
local f_icrc = ProtoField.uint32("roce.cnp.icrc", "ICRC", base.HEX)
roce.fields = { f_src, f_dst, f_ecn, f_len, f_fecn, f_becn, f_ce, f_cnp, f_qpn,
		f_pkey, f_dscp, f_length, f_reserved, f_reserved_zero, f_icrc }

local e_length = ProtoExpert.new("roce.cnp.bad_length", "CNP of wrong length",
	expert.group.MALFORMED, expert.severity.ERROR)
local e_reserved = ProtoExpert.new("roce.cnp.bad_reserved",
	"Reserved bytes of a CNP are not zero", expert.group.PROTOCOL,
	expert.severity.NOTE)
local e_becn = ProtoExpert.new("roce.cnp.no_becn", "CNP without BECN",
	expert.group.PROTOCOL, expert.severity.NOTE)
roce.experts = { e_length, e_reserved, e_becn }

local udp_port = Field.new("udp.dstport")
local udp_length = Field.new("udp.length")
local udp_payload = Field.new("udp.payload")
-- an ICMP error quotes the packet that it is about
local icmp = Field.new("icmp.type")
local icmp6 = Field.new("icmpv6.type")
local ip = {
	src = Field.new("ip.src"),
	dst = Field.new("ip.dst"),
	tos = Field.new("ip.dsfield"),
	len = Field.new("ip.len"),
	more = ETH_LEN,
}
local ip6 = {
	src = Field.new("ipv6.src"),
	dst = Field.new("ipv6.dst"),
	tos = Field.new("ipv6.tclass"),
	len = Field.new("ipv6.plen"),
	more = ETH_LEN + IP6_LEN,
}

local function last_of(first, ...)
	local n = select("#", ...)

	if n == 0 then
		return first
	end
	return (select(n, ...))
end

-- The last of a field's occurrences
local function last(field)
	return last_of(field())
end

-- The IP header next to the packet
local function innermost()
	local tos, tos6 = last(ip.tos), last(ip6.tos)

	if tos and (not tos6 or tos.offset > tos6.offset) then
		return ip, tos.value
	end
	return ip6, tos6 and tos6.value or 0
end

local function is_zero(range)
	for i = 0, range:len() - 1 do
		if range(i, 1):uint() ~= 0 then
			return false
		end
	end
	return true
end

-- What the capture has of the reserved bytes, and what follows
local function rest(bth, tree)
	local reserved = bth(BTH_LEN, math.min(bth:len() - BTH_LEN, RESERVED_LEN))
	local zero = is_zero(reserved)

	tree:add(f_reserved, reserved)
	if reserved:len() == RESERVED_LEN or not zero then
		tree:add(f_reserved_zero, zero):set_generated()
	end
	if not zero then
		tree:add_proto_expert_info(e_reserved)
	end
	if bth:len() == BTH_LEN + RESERVED_LEN + ICRC_LEN then
		tree:add(f_icrc, bth(BTH_LEN + RESERVED_LEN, ICRC_LEN))
	end
end

local function cnp(bth, tos, tree, pinfo)
	local qpn = bth(5, 3)
	-- a capture may have less of the packet than was sent
	local right = last(udp_length).value == UDP_LEN + BTH_LEN + RESERVED_LEN + ICRC_LEN

	tree:add(f_cnp, bth(0, 1), true)
	tree:add(f_qpn, qpn, qpn:uint())
	tree:add(f_pkey, bth(2, 2))
	tree:add(f_dscp, bit.rshift(tos, 2)):set_generated()
	tree:add(f_length, right):set_generated()
	if bit.band(bth(4, 1):uint(), 0x40) == 0 then
		tree:add_proto_expert_info(e_becn)
	end
	if not right then
		tree:add_proto_expert_info(e_length)
	elseif bth:len() > BTH_LEN then
		rest(bth, tree)
	end
	pinfo.cols.protocol = "RRoCE"
	pinfo.cols.info = string.format("CNP QP=0x%06x%s", qpn:uint(),
					right and "" or " [wrong length]")
end

function roce.dissector(tvb, pinfo, tree)
	local port, payload = last(udp_port), last(udp_payload)
	local header, tos, bth, sub, ce

	if not port or port.value ~= ROCE_PORT or icmp() or icmp6() then
		return
	end
	header, tos = innermost()
	sub = tree:add(roce, payload and payload.range or tvb())
	sub:add(f_src, tostring(last(header.src).value)):set_generated()
	sub:add(f_dst, tostring(last(header.dst).value)):set_generated()
	sub:add(f_ecn, bit.band(tos, 3)):set_generated()
	sub:add(f_len, last(header.len).value + header.more):set_generated()
	if not payload or payload.range:len() < BTH_LEN then
		return
	end
	bth = payload.range
	sub:add(f_fecn, bth(4, 1))
	sub:add(f_becn, bth(4, 1))
	ce = bit.band(tos, 3) == 3
	sub:add(f_ce, ce):set_generated()
	if bth(0, 1):uint() == OPCODE_CNP then
		cnp(bth, tos, sub, pinfo)
	elseif ce then
		pinfo.cols.info:append(" [CE]")
	end
end

register_postdissector(roce)
