/** The headings under which the flags of the proxy stand in `help flags`, each with the names of its flags. */
const GROUPS: readonly (readonly [heading: string, names: RegExp])[] = [
  ['What to do:', /^(config|write-config-to|cleanup|init-only|once|manifests|version)$/],
  ['The cluster:', /^(kubeconfig|kube-api-.*|master|kubernetes-version|hostname-override|feature-gates)$/],
  [
    'Traffic:',
    /^(proxy-mode|cluster-cidr|detect-local-mode|pod-.*|nodeport-addresses|masquerade-all|bind-address|service-frontends-limit)$/,
  ],
  ['Rules of modes iptables, nftables and userspace:', /^iptables-/],
  ['Mode ipvs:', /^ipvs-/],
  ['Mode userspace:', /^(proxy-port-range|udp-timeout)$/],
  ['Connections:', /^(conntrack-.*|reset-dead-connections|eject-silent-endpoints)$/],
  [
    'Health, metrics and what it tells:',
    /^(healthz-.*|metrics-.*|scrape-bind-address|bind-address-hard-fail|page|debug-routes|profiling|service-traffic-.*|show-hidden-metrics-for-version)$/,
  ],
  ['The process and its log:', /^(oom-score-adj|v|logging-format|log-.*-split-stream)$/],
  [
    'Accepted without effect:',
    /^(config-sync-period|log-flush-frequency|log-.*-buffer-size|vmodule|machine-id-file|boot-id-file|cleanup-ipvs|resource-container)$/,
  ],
];

/** The heading of a flag. */
export function groupOf(flag: string): string | undefined {
  return GROUPS.find(([, names]) => names.test(flag))?.[0];
}

/** To sort flags by: those of one heading are together. */
export function groupOrder(flag: string): number {
  return GROUPS.findIndex(([, names]) => names.test(flag));
}
