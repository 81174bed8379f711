-- SPDX-License-Identifier: BSD-2-Clause
-- iWARP inside of TLS for Wireshark and tshark, as ALPN "iwarp" names it, or "Decode As" for a TLS port. Wireshark's
-- own dissector of MPA takes nothing but segments of TCP, as it wants their sequence numbers; that of DDP and RDMAP
-- takes what an FPDU has. So MPA (RFC 5044) is read here, and DDP there. FPDUs with markers are not taken apart, and
-- CRCs are shown, not checked: "uiwarp pcap" does both.
local mpa = Proto("iwarp_tls", "iWARP Marker PDU Aligned Framing inside of TLS")
local f = {
	key = ProtoField.string("iwarp_tls.key", "Key"),
	m = ProtoField.bool("iwarp_tls.marker_flag", "Markers wanted", 8, nil, 0x80),
	c = ProtoField.bool("iwarp_tls.crc_flag", "CRC", 8, nil, 0x40),
	r = ProtoField.bool("iwarp_tls.rej_flag", "Rejected", 8, nil, 0x20),
	s = ProtoField.bool("iwarp_tls.enhanced_flag", "Enhanced RDMA connection establishment", 8, nil, 0x10),
	rev = ProtoField.uint8("iwarp_tls.rev", "Revision"),
	pd_length = ProtoField.uint16("iwarp_tls.pdlength", "Private data length"),
	pd = ProtoField.bytes("iwarp_tls.privatedata", "Private data"),
	length = ProtoField.uint16("iwarp_tls.ulpdulength", "ULPDU length"),
	pad = ProtoField.bytes("iwarp_tls.pad", "Pad"),
	crc = ProtoField.uint32("iwarp_tls.crc", "CRC", base.HEX),
	marked = ProtoField.bytes("iwarp_tls.marked", "FPDUs with markers, not taken apart"),
}
mpa.fields = f

local ddp = Dissector.get("iwarp_ddp_rdmap")
local tcp_stream = Field.new("tcp.stream")
local KEYS = { ["MPA ID Req Frame"] = "Request", ["MPA ID Rep Frame"] = "Reply" }
local KEY_LEN, START_LEN, LENGTH_LEN, CRC_LEN = 16, 20, 2, 4

-- Directions that have markers, as the other end has asked for them: stream and port of the sender.
local marked = {}

function mpa.init()
	marked = {}
end

local function direction(port)
	return tcp_stream().value .. " " .. port
end

local function key_at(tvb, at)
	return tvb:len() - at >= KEY_LEN and KEYS[tvb:raw(at, KEY_LEN)]
end

-- Octets of what begins there, or nil: so few are there that it is not known.
local function frame_len(tvb, at)
	local left = tvb:len() - at
	if key_at(tvb, at) then
		return left >= START_LEN and START_LEN + tvb(at + 18, 2):uint() or nil
	end
	if left < LENGTH_LEN then
		return nil
	end
	local covered = LENGTH_LEN + tvb(at, LENGTH_LEN):uint()
	return covered + -covered % 4 + CRC_LEN
end

local function dissect_start(range, pinfo, tree)
	local flags, wanted = range(16, 1), range(16, 1):bitfield(0, 1) == 1
	local name = KEYS[range(0, KEY_LEN):string()]
	local t = tree:add(mpa, range, "MPA " .. name)
	t:add(f.key, range(0, KEY_LEN))
	for _, flag in ipairs({ f.m, f.c, f.r, f.s }) do
		t:add(flag, flags)
	end
	t:add(f.rev, range(17, 1))
	t:add(f.pd_length, range(18, 2))
	if range:len() > START_LEN then
		t:add(f.pd, range(START_LEN))
	end
	if wanted then
		marked[direction(pinfo.dst_port)] = true
	end
	pinfo.cols.info:append("MPA " .. name .. " ")
end

local function dissect_fpdu(range, pinfo, tree)
	local ulpdu_len = range(0, LENGTH_LEN):uint()
	local behind, crc_at = LENGTH_LEN + ulpdu_len, range:len() - CRC_LEN
	local t = tree:add(mpa, range, "MPA FPDU")
	t:add(f.length, range(0, LENGTH_LEN))
	if crc_at > behind then
		t:add(f.pad, range(behind, crc_at - behind))
	end
	t:add(f.crc, range(crc_at, CRC_LEN))
	if ulpdu_len > 0 then
		ddp:call(range(LENGTH_LEN, ulpdu_len):tvb(), pinfo, tree)
	end
end

-- What is not whole comes again with the next record's content behind it.
local function wait_for(tvb, pinfo, at, len)
	pinfo.desegment_offset = at
	pinfo.desegment_len = len and at + len - tvb:len() or DESEGMENT_ONE_MORE_SEGMENT
end

function mpa.dissector(tvb, pinfo, tree)
	local at = 0
	pinfo.cols.protocol = "MPA"
	pinfo.cols.info = ""
	while at < tvb:len() do
		local is_start = key_at(tvb, at)
		local len = frame_len(tvb, at)
		if not is_start and marked[direction(pinfo.src_port)] then
			tree:add(mpa, tvb(at)):add(f.marked, tvb(at))
			return
		elseif not len or len > tvb:len() - at then
			wait_for(tvb, pinfo, at, len)
			return
		elseif is_start then
			dissect_start(tvb(at, len), pinfo, tree)
		else
			dissect_fpdu(tvb(at, len), pinfo, tree)
		end
		at = at + len
	end
end

DissectorTable.get("tls.alpn"):add("iwarp", mpa)
DissectorTable.get("tls.port"):add_for_decode_as(mpa)
