/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RFC 9293 section 3.10.7, SEGMENT ARRIVES: each kind of segment in each state. $R is RCV.NXT, $U
 * SND.UNA, $N SND.NXT, $W the right edge of the receive window. Resets and SYNs inside the window
 * are met as RFC 5961 has it, which section 3.10.7.4 adopts.
 *
 * A row: the segment in words; the segment; the answer; the state then; what RECEIVE says.
 */
#include "states.h"

static void arrive(struct script *s)
{
	char segment[100], answer[100];
	const char *const *f = s->row->field;

	/* The answer is in terms of the state before. */
	with_numbers(s, f[1], answer, sizeof answer);
	peer(s, "%s", with_numbers(s, f[0], segment, sizeof segment));
	answers(s, answer);
	state_is(s, f[2]);
	user_sees(s, f[3]);
	nothing(s);
}

#define STATE(name)                             \
	static void in_##name(struct script *s) \
	{                                       \
		to_##name(s);                   \
		arrive(s);                      \
	}

STATE(closed)
STATE(listen)
STATE(syn_sent)
STATE(syn_received)
STATE(syn_received_active)
STATE(established)
STATE(fin_wait_1)
STATE(fin_wait_2)
STATE(close_wait)
STATE(closing)
STATE(last_ack)
STATE(time_wait)

/* clang-format off */

/* Section 3.10.7.1. */
static const struct script_row closed_rows[] = {
	{"RST",                   {"R 1",             "",              "CLOSED", ""}},
	{"RST,ACK",               {"R. 1 ack 1",      "",              "CLOSED", ""}},
	{"SYN",                   {"S 0 <mss 1460>",  "R. =0 ack 1",   "CLOSED", ""}},
	{"SYN,FIN",               {"SF 0",            "R. =0 ack 2",   "CLOSED", ""}},
	{"SYN with text",         {"S 0:11",          "R. =0 ack 12",  "CLOSED", ""}},
	{"SYN,ACK",               {"S. 0 ack 77",     "R 77",          "CLOSED", ""}},
	{"ACK",                   {". 1 ack 77",      "R 77",          "CLOSED", ""}},
	{"text",                  {"P. 1:11 ack 77",  "R 77",          "CLOSED", ""}},
	{"text without ACK",      {"P 1:11",          "R. =0 ack 11",  "CLOSED", ""}},
	{"FIN",                   {"F. 1 ack 77",     "R 77",          "CLOSED", ""}},
	{"FIN without ACK",       {"F 1",             "R. =0 ack 2",   "CLOSED", ""}},
	{"no flag",               {"- 1",             "R. =0 ack 1",   "CLOSED", ""}},
	{"wrong checksum",        {". 1 ack 77 badsum", "",            "CLOSED", ""}},
	{NULL, {NULL}},
};

/* Section 3.10.7.2. */
static const struct script_row listen_rows[] = {
	{"RST",                   {"R 1",             "",              "LISTEN", ""}},
	{"RST,ACK",               {"R. 1 ack 77",     "",              "LISTEN", ""}},
	{"RST,SYN",               {"RS 1",            "",              "LISTEN", ""}},
	{"ACK",                   {". 1 ack 77",      "R =77",         "LISTEN", ""}},
	{"SYN,ACK",               {"S. 0 ack 77",     "R =77",         "LISTEN", ""}},
	{"text with ACK",         {"P. 1:11 ack 77",  "R =77",         "LISTEN", ""}},
	{"FIN with ACK",          {"F. 1 ack 77",     "R =77",         "LISTEN", ""}},
	{"SYN",                   {"S 0 <mss 1460>",  "S. 0 ack 1",    "SYN-RECEIVED", ""}},
	{"SYN without options",   {"S 0",             "S. 0 ack 1",    "SYN-RECEIVED", ""}},
	/* Text on a SYN may be queued or left to be sent again: we do the latter. */
	{"SYN with text",         {"S 0:11",          "S. 0 ack 1",    "SYN-RECEIVED", ""}},
	/* A port scanner's, not a TCP's: dropped, as most stacks do. */
	{"SYN,FIN",               {"SF 0",            "",              "LISTEN", ""}},
	{"SYN,ECE,CWR",           {"SEC 0",           "S.E 0 ack 1",   "SYN-RECEIVED", ""}},
	{"FIN alone",             {"F 1",             "",              "LISTEN", ""}},
	{"text without ACK",      {"P 1:11",          "",              "LISTEN", ""}},
	{"no flag",               {"- 1",             "",              "LISTEN", ""}},
	{"wrong checksum",        {"S 0 badsum",      "",              "LISTEN", ""}},
	{NULL, {NULL}},
};

/* Section 3.10.7.3. */
static const struct script_row syn_sent_rows[] = {
	{"SYN,ACK",               {"S. 0 ack 1",      ". 1 ack 1",     "ESTABLISHED", "EAGAIN"}},
	{"SYN,ACK,FIN",           {"SF. 0 ack 1",     ". 1 ack 2",     "CLOSE-WAIT", "end"}},
	{"SYN,ACK with text",     {"S. 0:11 ack 1",   ". 1 ack 12",    "ESTABLISHED", "11 bytes"}},
	{"SYN",                   {"S 0",             "S. 0 ack 1",    "SYN-RECEIVED", "EAGAIN"}},
	{"SYN,ACK old",           {"S. 0 ack 0",      "R 0",           "SYN-SENT", "EAGAIN"}},
	{"SYN,ACK older",         {"S. 0 ack -77",    "R -77",         "SYN-SENT", "EAGAIN"}},
	{"SYN,ACK future",        {"S. 0 ack 2",      "R 2",           "SYN-SENT", "EAGAIN"}},
	{"ACK old",               {". 1 ack 0",       "R 0",           "SYN-SENT", "EAGAIN"}},
	{"ACK future",            {". 1 ack 2",       "R 2",           "SYN-SENT", "EAGAIN"}},
	{"ACK new",               {". 1 ack 1",       "",              "SYN-SENT", "EAGAIN"}},
	{"text",                  {"P. 1:11 ack 1",   "",              "SYN-SENT", "EAGAIN"}},
	{"text without ACK",      {"P 1:11",          "",              "SYN-SENT", "EAGAIN"}},
	{"FIN",                   {"F. 1 ack 1",      "",              "SYN-SENT", "EAGAIN"}},
	{"FIN without ACK",       {"F 1",             "",              "SYN-SENT", "EAGAIN"}},
	{"RST without ACK",       {"R 1",             "",              "SYN-SENT", "EAGAIN"}},
	{"RST,ACK old",           {"R. 1 ack 0",      "",              "SYN-SENT", "EAGAIN"}},
	{"RST,ACK future",        {"R. 1 ack 2",      "",              "SYN-SENT", "EAGAIN"}},
	{"RST,ACK new",           {"R. =0 ack 1",     "",              "CLOSED", "ECONNREFUSED"}},
	{"RST,SYN,ACK new",       {"RS. 0 ack 1",     "",              "CLOSED", "ECONNREFUSED"}},
	{"no flag",               {"- 1",             "",              "SYN-SENT", "EAGAIN"}},
	{NULL, {NULL}},
};

/* Section 3.10.7.4, where the open was passive: a way back leads to LISTEN. */
static const struct script_row syn_received_rows[] = {
	{"ACK new",               {". 1 ack 1",       "",              "ESTABLISHED", "EAGAIN"}},
	{"ACK old",               {". 1 ack 0",       "R 0",           "SYN-RECEIVED", ""}},
	{"ACK future",            {". 1 ack 2",       "R 2",           "SYN-RECEIVED", ""}},
	{"text",                  {"P. 1:11 ack 1",   ". 1 ack 11",    "ESTABLISHED", "10 bytes"}},
	{"text beyond a gap",     {"P. 11:21 ack 1",  ". 1 ack 1 $S",  "ESTABLISHED", "EAGAIN"}},
	{"text without ACK",      {"P 1:11",          "",              "SYN-RECEIVED", ""}},
	{"text out of window",    {"P. $W:$W+10 ack 1", ". 1 ack 1",   "SYN-RECEIVED", ""}},
	{"FIN",                   {"F. 1 ack 1",      ". 1 ack 2",     "CLOSE-WAIT", "end"}},
	{"text and FIN",          {"FP. 1:11 ack 1",  ". 1 ack 12",    "CLOSE-WAIT", ""}},
	{"SYN again",             {"S 0 <$P>",        "S. 0 ack 1",    "SYN-RECEIVED", ""}},
	{"SYN in window",         {"S 1",             "",              "LISTEN", ""}},
	{"SYN out of window",     {"S -10",           ". 1 ack 1",     "SYN-RECEIVED", ""}},
	{"RST exact",             {"R 1",             "",              "LISTEN", ""}},
	{"RST in window",         {"R 2",             ". 1 ack 1",     "SYN-RECEIVED", ""}},
	{"RST before the window", {"R 0",             "",              "SYN-RECEIVED", ""}},
	{"RST behind the window", {"R $W",            "",              "SYN-RECEIVED", ""}},
	{"no flag",               {"- 1",             "",              "SYN-RECEIVED", ""}},
	{NULL, {NULL}},
};

/* The same after an active open: the user hears of it. */
static const struct script_row syn_received_active_rows[] = {
	{"ACK new",               {". 1 ack 1",       "",              "ESTABLISHED", "EAGAIN"}},
	{"SYN,ACK",               {"S. 0 ack 1 <$P>", "",              "ESTABLISHED", "EAGAIN"}},
	{"ACK old",               {". 1 ack 0",       "R 0",           "SYN-RECEIVED", "EAGAIN"}},
	{"ACK future",            {". 1 ack 2",       "R 2",           "SYN-RECEIVED", "EAGAIN"}},
	{"text",                  {"P. 1:11 ack 1",   ". 1 ack 11",    "ESTABLISHED", "10 bytes"}},
	{"FIN",                   {"F. 1 ack 1",      ". 1 ack 2",     "CLOSE-WAIT", "end"}},
	{"SYN again",             {"S 0 <$P>",        "S. 0 ack 1",    "SYN-RECEIVED", "EAGAIN"}},
	{"SYN in window",         {"S 1",             ". 1 ack 1",     "SYN-RECEIVED", "EAGAIN"}},
	{"RST exact",             {"R 1",             "",              "CLOSED", "ECONNREFUSED"}},
	{"RST in window",         {"R 2",             ". 1 ack 1",     "SYN-RECEIVED", "EAGAIN"}},
	{"RST before the window", {"R 0",             "",              "SYN-RECEIVED", "EAGAIN"}},
	{NULL, {NULL}},
};

/* A SYN of a later ISN would open TIME-WAIT anew (closing.c). */
#define LATE_SYN(state, user) \
	{"SYN behind the window", {"S $W+10",          ". $N ack $R",   state, user}}

/* Section 3.10.7.4, first to fourth and the check of the ACK, in every synchronized state. */
/* after: the state that an exact reset leaves. */
#define SYNCHRONIZED(state, user, after, reset) \
	{"SYN in window",         {"S $R",             ". $N ack $R",   state, user}}, \
	{"SYN before the window", {"S 0",              ". $N ack $R",   state, user}}, \
	{"SYN,ACK again",         {"S. 0 ack $N",      ". $N ack $R",   state, user}}, \
	{"RST exact",             {"R $R",             "",              after, reset}}, \
	{"RST,ACK exact",         {"R. $R ack $N",     "",              after, reset}}, \
	{"RST in window",         {"R $R+1",           ". $N ack $R",   state, user}}, \
	{"RST at the last byte",  {"R $W-1",           ". $N ack $R",   state, user}}, \
	{"RST before the window", {"R $R-1",           "",              state, user}}, \
	{"RST behind the window", {"R $W",             "",              state, user}}, \
	{"RST far away",          {"R $R+1000000000",  "",              state, user}}, \
	{"ACK future",            {". $R ack $N+1",    ". $N ack $R",   state, user}}, \
	{"ACK far future",        {". $R ack $N+1000000000", ". $N ack $R", state, user}}, \
	{"ACK before all windows", {". $R ack $U-100000000", ". $N ack $R", state, user}}, \
	{"ACK dup",               {". $R ack $U",      "",              state, user}}, \
	{"ACK before the window", {". $R-1 ack $N",    ". $N ack $R",   state, user}}, \
	{"ACK behind the window", {". $W+1 ack $N",    ". $N ack $R",   state, user}}, \
	{"ACK wrong checksum",    {". $R ack $N badsum", "",            state, user}}, \
	{"text behind the window", {"P. $W:$W+10 ack $U", ". $N ack $R", state, user}}, \
	{"text without ACK",      {"P $R:$R+10",       "",              state, user}}, \
	{"FIN without ACK",       {"F $R",             "",              state, user}}, \
	{"FIN behind the window", {"F. $W+1 ack $U",   ". $N ack $R",   state, user}}, \
	{"no flag",               {"- $R",             "",              state, user}}

static const struct script_row established_rows[] = {
	SYNCHRONIZED("ESTABLISHED", "EAGAIN", "CLOSED", "ECONNRESET"),
	LATE_SYN("ESTABLISHED", "EAGAIN"),
	{"ACK old",               {". 1 ack 0",        "",              "ESTABLISHED", "EAGAIN"}},
	{"text",                  {"P. 1:11 ack 1",    ". 1 ack 11",    "ESTABLISHED", "10 bytes"}},
	{"text with an old ACK",  {"P. 1:11 ack 0",    ". 1 ack 11",    "ESTABLISHED", "10 bytes"}},
	{"text with a future ACK", {"P. 1:11 ack 2",   ". 1 ack 1",     "ESTABLISHED", "EAGAIN"}},
	{"text beyond a gap",     {"P. 11:21 ack 1",   ". 1 ack 1 $S",  "ESTABLISHED", "EAGAIN"}},
	{"text across the edge",  {"P. -4:11 ack 1",   ". 1 ack 11 $D", "ESTABLISHED", "10 bytes"}},
	{"old text",              {"P. -9:1 ack 1",    ". 1 ack 1 $O",  "ESTABLISHED", "EAGAIN"}},
	{"urgent text",           {"UP. 1:11 ack 1 urg 10", ". 1 ack 11", "ESTABLISHED", "10 bytes"}},
	{"FIN",                   {"F. 1 ack 1",       ". 1 ack 2",     "CLOSE-WAIT", "end"}},
	{"FIN beyond a gap",      {"F. 11 ack 1",      ". 1 ack 1",     "ESTABLISHED", "EAGAIN"}},
	{"FIN with an old ACK",   {"F. 1 ack 0",       ". 1 ack 2",     "CLOSE-WAIT", "end"}},
	{"FIN with a future ACK", {"F. 1 ack 2",       ". 1 ack 1",     "ESTABLISHED", "EAGAIN"}},
	{"RST with text",         {"R 1:11",           "",              "CLOSED", "ECONNRESET"}},
	{NULL, {NULL}},
};

static const struct script_row fin_wait_1_rows[] = {
	SYNCHRONIZED("FIN-WAIT-1", "EAGAIN", "CLOSED", "ECONNRESET"),
	LATE_SYN("FIN-WAIT-1", "EAGAIN"),
	{"ACK new",               {". 1 ack 2",        "",              "FIN-WAIT-2", "EAGAIN"}},
	{"ACK old",               {". 1 ack 0",        "",              "FIN-WAIT-1", "EAGAIN"}},
	{"text",                  {"P. 1:11 ack 1",    ". 2 ack 11",    "FIN-WAIT-1", "10 bytes"}},
	{"text with ACK of FIN",  {"P. 1:11 ack 2",    ". 2 ack 11",    "FIN-WAIT-2", "10 bytes"}},
	{"FIN",                   {"F. 1 ack 1",       ". 2 ack 2",     "CLOSING", "end"}},
	{"FIN with ACK of FIN",   {"F. 1 ack 2",       ". 2 ack 2",     "TIME-WAIT", "end"}},
	{"text, FIN, ACK of FIN", {"FP. 1:11 ack 2",   ". 2 ack 12",    "TIME-WAIT", ""}},
	{"FIN beyond a gap",      {"F. 11 ack 2",      ". 2 ack 1",     "FIN-WAIT-2", "EAGAIN"}},
	{NULL, {NULL}},
};

static const struct script_row fin_wait_2_rows[] = {
	SYNCHRONIZED("FIN-WAIT-2", "EAGAIN", "CLOSED", "ECONNRESET"),
	LATE_SYN("FIN-WAIT-2", "EAGAIN"),
	{"ACK old",               {". 1 ack 1",        "",              "FIN-WAIT-2", "EAGAIN"}},
	{"text",                  {"P. 1:11 ack 2",    ". 2 ack 11",    "FIN-WAIT-2", "10 bytes"}},
	{"FIN",                   {"F. 1 ack 2",       ". 2 ack 2",     "TIME-WAIT", "end"}},
	{"FIN with an old ACK",   {"F. 1 ack 1",       ". 2 ack 2",     "TIME-WAIT", "end"}},
	{"text and FIN",          {"FP. 1:11 ack 2",   ". 2 ack 12",    "TIME-WAIT", ""}},
	{"FIN beyond a gap",      {"F. 11 ack 2",      ". 2 ack 1",     "FIN-WAIT-2", "EAGAIN"}},
	{NULL, {NULL}},
};

/* Text and FIN that come after a FIN are ignored; its retransmission is acknowledged. */
#define AFTER_FIN(state) \
	{"FIN again",             {"F. $R-1 ack $U",   ". $N ack $R",   state, "end"}}, \
	{"text after the FIN",    {"P. $R:$R+10 ack $U", "",            state, "end"}}, \
	{"FIN after the FIN",     {"F. $R ack $U",     "",              state, "end"}}, \
	{"ACK old",               {". $R ack $U-1",    "",              state, "end"}}

static const struct script_row close_wait_rows[] = {
	SYNCHRONIZED("CLOSE-WAIT", "end", "CLOSED", "end"),
	LATE_SYN("CLOSE-WAIT", "end"),
	AFTER_FIN("CLOSE-WAIT"),
	{NULL, {NULL}},
};

static const struct script_row closing_rows[] = {
	SYNCHRONIZED("CLOSING", "end", "CLOSED", "end"),
	LATE_SYN("CLOSING", "end"),
	AFTER_FIN("CLOSING"),
	{"ACK new",               {". 2 ack 2",        "",              "TIME-WAIT", "end"}},
	{NULL, {NULL}},
};

static const struct script_row last_ack_rows[] = {
	SYNCHRONIZED("LAST-ACK", "end", "CLOSED", "end"),
	LATE_SYN("LAST-ACK", "end"),
	AFTER_FIN("LAST-ACK"),
	{"ACK new",               {". 2 ack 2",        "",              "CLOSED", "end"}},
	{NULL, {NULL}},
};

static const struct script_row time_wait_rows[] = {
	/* RFC 1337: a reset does not end TIME-WAIT. */
	SYNCHRONIZED("TIME-WAIT", "end", "TIME-WAIT", "end"),
	AFTER_FIN("TIME-WAIT"),
	{NULL, {NULL}},
};

#define OPEN_WAYS (V6 | TS | SACK | WRAP)

const struct script_test script_tests[] = {
	SCRIPT_ROWS("CLOSED", "RFC 9293 section 3.10.7.1", in_closed, OPEN_WAYS, WS, closed_rows),
	SCRIPT_ROWS("LISTEN", "RFC 9293 section 3.10.7.2", in_listen, OPEN_WAYS, WS, listen_rows),
	SCRIPT_ROWS("SYN-SENT", "RFC 9293 section 3.10.7.3", in_syn_sent, OPEN_WAYS, WS, syn_sent_rows),
	SCRIPT_ROWS("SYN-RECEIVED", "RFC 9293 section 3.10.7.4", in_syn_received, OPEN_WAYS, WS, syn_received_rows),
	SCRIPT_ROWS("SYN-RECEIVED after active open", "RFC 9293 section 3.10.7.4", in_syn_received_active, OPEN_WAYS, WS, syn_received_active_rows),
	SCRIPT_ROWS("ESTABLISHED", "RFC 9293 section 3.10.7.4", in_established, OPEN_WAYS, WS, established_rows),
	SCRIPT_ROWS("FIN-WAIT-1", "RFC 9293 section 3.10.7.4", in_fin_wait_1, OPEN_WAYS, WS, fin_wait_1_rows),
	SCRIPT_ROWS("FIN-WAIT-2", "RFC 9293 section 3.10.7.4", in_fin_wait_2, OPEN_WAYS, WS, fin_wait_2_rows),
	SCRIPT_ROWS("CLOSE-WAIT", "RFC 9293 section 3.10.7.4", in_close_wait, OPEN_WAYS, WS, close_wait_rows),
	SCRIPT_ROWS("CLOSING", "RFC 9293 section 3.10.7.4", in_closing, OPEN_WAYS, WS, closing_rows),
	SCRIPT_ROWS("LAST-ACK", "RFC 9293 section 3.10.7.4", in_last_ack, OPEN_WAYS, WS, last_ack_rows),
	SCRIPT_ROWS("TIME-WAIT", "RFC 9293 section 3.10.7.4", in_time_wait, OPEN_WAYS, WS, time_wait_rows),
	SCRIPTS_END,
};
