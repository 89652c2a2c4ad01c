/**
 * kube-proxy's metrics as docs/internals/spec/server.md §10 lists them, written down by hand: a line each with name, type (histograms with
 * their bucket set), labels, and modes, where `+nfacct` means only where the kernel counts packets.
 */
const LINES = `
kubeproxy_sync_proxy_rules_duration_seconds                          histogram:D  ip_family                 all
kubeproxy_sync_full_proxy_rules_duration_seconds                     histogram:D  ip_family                 iptables,nftables
kubeproxy_sync_partial_proxy_rules_duration_seconds                  histogram:D  ip_family                 iptables,nftables
kubeproxy_sync_proxy_rules_last_timestamp_seconds                    gauge        ip_family                 all
kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds             gauge        ip_family                 all
kubeproxy_network_programming_duration_seconds                       histogram:N  ip_family                 all
kubeproxy_sync_proxy_rules_endpoint_changes_pending                  gauge        -                         all
kubeproxy_sync_proxy_rules_endpoint_changes_total                    counter      -                         all
kubeproxy_sync_proxy_rules_service_changes_pending                   gauge        -                         all
kubeproxy_sync_proxy_rules_service_changes_total                     counter      -                         all
kubeproxy_sync_proxy_rules_no_local_endpoints_total                  gauge        ip_family,traffic_policy  all
kubeproxy_proxy_healthz_total                                        counter      code                      all
kubeproxy_proxy_livez_total                                          counter      code                      all
kubeproxy_sync_proxy_rules_iptables_restore_failures_total           counter      ip_family                 iptables,ipvs
kubeproxy_sync_proxy_rules_iptables_partial_restore_failures_total   counter      ip_family                 iptables
kubeproxy_sync_proxy_rules_iptables_total                            gauge        ip_family,table           iptables
kubeproxy_sync_proxy_rules_iptables_last                             gauge        ip_family,table           iptables
kubeproxy_iptables_ct_state_invalid_dropped_packets_total            counter      -                         iptables+nfacct
kubeproxy_iptables_localhost_nodeports_accepted_packets_total        counter      -                         iptables+nfacct
kubeproxy_sync_proxy_rules_nftables_sync_failures_total              counter      ip_family                 nftables
kubeproxy_sync_proxy_rules_nftables_cleanup_failures_total           counter      ip_family                 nftables
kubeproxy_conntrack_reconciler_sync_duration_seconds                 histogram:D  ip_family                 all
kubeproxy_conntrack_reconciler_deleted_entries_total                 counter      ip_family                 all
`;

const BUCKETS: Readonly<Record<string, readonly string[]>> = {
  D: '0.001 0.002 0.004 0.008 0.016 0.032 0.064 0.128 0.256 0.512 1.024 2.048 4.096 8.192 16.384 +Inf'.split(
    ' ',
  ),
  N: [
    '0 0.25 0.5',
    '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30',
    '31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59',
    '60 65 70 75 80 85 90 95 100 105 110 115 120 150 180 210 240 270 300 +Inf',
  ].flatMap((line) => line.split(' ')),
};

export interface SpecMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly buckets: readonly string[];
}

/** What kube-proxy registers in a mode. */
export function specMetrics(mode: string, nfacct: boolean): readonly SpecMetric[] {
  return LINES.trim()
    .split('\n')
    .flatMap((line) => {
      const [name = '', kind = '', labels = '', where = ''] = line.split(/ +/);
      const [modes = '', needs] = where.split('+');
      if (modes !== 'all' && !modes.split(',').includes(mode)) return [];
      if (needs !== undefined && !nfacct) return [];
      const [type = '', set = ''] = kind.split(':');
      return [{ name, type, labels: labels === '-' ? [] : labels.split(','), buckets: BUCKETS[set] ?? [] }];
    });
}
