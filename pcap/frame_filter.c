/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/frame_filter.h"

#include "pcap/capture_priv.h"

#include <pcap/pcap.h>
#include <stdlib.h>

static bool frame_filter_compile(struct frame_filter *t, uint32_t link, struct cap_error *e)
{
	pcap_t *p = pcap_open_dead(link == CAP_LINKTYPE_RAW ? DLT_RAW : (int)link, CAP_FRAME_MAX);
	struct bpf_program *program = calloc(1, sizeof *program);
	bool compiled = false;

	frame_filter_free(t);
	if (!p || !program)
		cap_bad(e, "out of memory");
	else if (pcap_compile(p, program, t->expression, 1, PCAP_NETMASK_UNKNOWN) != 0)
		cap_bad(e, "the filter \"%.60s\": %.80s", t->expression, pcap_geterr(p));
	else
		compiled = true;
	if (p)
		pcap_close(p);
	if (compiled) {
		t->program = program;
		t->link = link;
	} else {
		free(program);
	}
	return compiled;
}

enum frame_filter_result frame_filter_apply(
	struct frame_filter *t, const struct cap_frame *f, struct cap_error *e)
{
	struct pcap_pkthdr h = {.caplen = f->captured, .len = f->len};

	if ((!t->program || t->link != f->link) && !frame_filter_compile(t, f->link, e))
		return FRAME_FILTER_BAD;
	return pcap_offline_filter(t->program, &h, f->bytes) != 0 ? FRAME_FILTER_TAKE
								  : FRAME_FILTER_DROP;
}

void frame_filter_free(struct frame_filter *t)
{
	if (t->program)
		pcap_freecode(t->program);
	free(t->program);
	t->program = NULL;
}
