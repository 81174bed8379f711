/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/frame_filter.h"

#include "pcap/capture_priv.h"

#include <pcap/pcap.h>
#include <stdlib.h>

static void frame_filter_forget(struct frame_filter_program *p)
{
	if (p->bpf)
		pcap_freecode(p->bpf);
	free(p->bpf);
	p->bpf = NULL;
}

/** @return NULL: @p e says why. */
static const struct bpf_program *frame_filter_compile(
	struct frame_filter *t, uint32_t link, struct cap_error *e)
{
	bool raw = link == CAP_LINKTYPE_RAW || link == CAP_LINKTYPE_RAW_OPENBSD;
	pcap_t *p = pcap_open_dead(raw ? DLT_RAW : (int)link, CAP_FRAME_MAX);
	struct frame_filter_program *to = &t->programs[t->oldest];
	struct bpf_program *bpf = calloc(1, sizeof *bpf);
	bool compiled = false;

	if (!p || !bpf)
		cap_bad(e, "out of memory");
	else if (pcap_compile(p, bpf, t->expression, 1, PCAP_NETMASK_UNKNOWN) != 0)
		cap_bad(e, "the filter \"%.60s\": %.80s", t->expression, pcap_geterr(p));
	else
		compiled = true;
	if (p)
		pcap_close(p);
	if (!compiled) {
		free(bpf);
		return NULL;
	}
	frame_filter_forget(to);
	*to = (struct frame_filter_program){bpf, link};
	t->oldest = (t->oldest + 1) % FRAME_FILTER_LINKS;
	return bpf;
}

static const struct bpf_program *frame_filter_of(
	struct frame_filter *t, uint32_t link, struct cap_error *e)
{
	for (unsigned i = 0; i < FRAME_FILTER_LINKS; i++)
		if (t->programs[i].bpf && t->programs[i].link == link)
			return t->programs[i].bpf;
	return frame_filter_compile(t, link, e);
}

enum frame_filter_result frame_filter_apply(
	struct frame_filter *t, const struct cap_frame *f, struct cap_error *e)
{
	const struct pcap_pkthdr h = {.caplen = f->captured, .len = f->len};
	const struct bpf_program *bpf = frame_filter_of(t, f->link, e);

	if (!bpf)
		return FRAME_FILTER_BAD;
	return pcap_offline_filter(bpf, &h, f->bytes) != 0 ? FRAME_FILTER_TAKE : FRAME_FILTER_DROP;
}

void frame_filter_free(struct frame_filter *t)
{
	for (unsigned i = 0; i < FRAME_FILTER_LINKS; i++)
		frame_filter_forget(&t->programs[i]);
}
