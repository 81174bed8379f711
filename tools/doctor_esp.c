/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/engine.h"
#include "esp/boundary.h"
#include "tools/doctor.h"

/** A counter that tells what is wrong with the SAs or policies. */
static const struct {
	size_t offset;
	const char *wrong, *advice;
} doctor_esp_faults[] = {
	{offsetof(struct esp_stats, tx_no_sa),
		"packets were to be protected, and there is no SA for them",
		"add a \"state\" of its source, destination, mode and reqid to the file of "
		"\"ipsec\""},
	{offsetof(struct esp_stats, tx_discarded),
		"packets were not sent, as no policy lets them out",
		"add a \"policy\" of direction out to the file of \"ipsec\""},
	{offsetof(struct esp_stats, tx_ended),
		"packets were not sent, as their SA had reached a limit",
		"give new SAs; if they are IKE's: see whether its daemon and ipsec-file run"},
	{offsetof(struct esp_stats, rx_no_sa),
		"ESP packets came with an SPI that no SA of ours has",
		"let the files of \"ipsec\" of both hosts have the same SAs"},
	{offsetof(struct esp_stats, rx_bad_icv), "ESP packets came that do not fit their key",
		"let the files of \"ipsec\" of both hosts have the same keys; else somebody "
		"forges"},
	{offsetof(struct esp_stats, rx_late), "ESP packets came that are older than their window",
		"the peer has started anew with its keys, or has one key for two addresses of "
		"ours: give both hosts new ones, or SAs without a \"replay-window\""},
	{offsetof(struct esp_stats, rx_ended), "ESP packets came whose SA had reached a limit",
		"give new SAs; if they are IKE's: see whether its daemon and ipsec-file run"},
	{offsetof(struct esp_stats, rx_clear), "packets came in the clear that a policy protects",
		"let the peer's file of \"ipsec\" protect them, too; if it sends ESP in UDP, let "
		"\"encap\" of the SAs to us name the port that it sends to"},
	{offsetof(struct esp_stats, rx_mismatch), "packets came by an SA that is not for them",
		"compare mode, reqid and selectors of \"state\" and \"policy\" in the file of "
		"\"ipsec\""},
	{offsetof(struct esp_stats, rx_discarded), "packets came that no policy lets in",
		"if they should come: add a \"policy\" of direction in to the file of \"ipsec\""},
};

/** Who has another key for what we send drops it, and says nothing that we could hear. */
static void doctor_explain_esp_silence(struct doctor *d, const struct esp_stats *s)
{
	if (s->tx_packets == 0 || s->rx_packets != 0)
		return;
	doctor_wrong(d, "%llu packets left under ESP, and nothing came back by it",
		(unsigned long long)s->tx_packets);
	doctor_advise(d,
		"if the peer runs, it has another key for them, or no such SA: its log names "
		"what it drops, and \"uiwarp stat\" there counts it");
}

void doctor_explain_esp(struct doctor *d, const struct esp_stats *s)
{
	unsigned wrong = d->wrong;

	if (s->sas_in == 0 || s->sas_out == 0) {
		doctor_wrong(d, "the file of \"ipsec\" has no SA %s one of our addresses",
			s->sas_in == 0 ? "to" : "from");
		doctor_advise(d, "see \"src\" and \"dst\" of each \"state\" in it");
	} else {
		doctor_good(d, "IPsec has %llu SAs in, %llu out and %llu policies",
			(unsigned long long)s->sas_in, (unsigned long long)s->sas_out,
			(unsigned long long)s->policies);
	}
	for (size_t i = 0; i < sizeof doctor_esp_faults / sizeof doctor_esp_faults[0]; i++) {
		const uint64_t *n = (const void *)((const char *)s + doctor_esp_faults[i].offset);

		if (*n == 0)
			continue;
		doctor_wrong(d, "%llu %s", (unsigned long long)*n, doctor_esp_faults[i].wrong);
		doctor_advise(d, "%s", doctor_esp_faults[i].advice);
	}
	if (d->wrong == wrong)
		doctor_explain_esp_silence(d, s);
}

void doctor_look_at_esp(struct doctor *d)
{
	struct esp_stats s;

	if (!net_esp(d->net))
		return;
	engine_lock(net_engine(d->net));
	s = *esp_boundary_stats(net_esp(d->net));
	engine_unlock(net_engine(d->net));
	doctor_explain_esp(d, &s);
}
