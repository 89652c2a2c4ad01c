import type { CountingFacts } from '../../domain/traffic/traffic-report.js';

/** Which connections cannot be seen, and what to do: on terminals and on the page alike. Nothing here needs more than the values. */
export function unseenConnections({ tracksServices, hidesDeadOnBridges }: CountingFacts): readonly string[] {
  return [
    ...(tracksServices
      ? []
      : ['connections through IPVS are not tracked, so none is shown: set net.ipv4.vs.conntrack to 1']),
    ...(hidesDeadOnBridges
      ? [
          'connections of pods to a dead endpoint on their own bridge are not seen, since net.bridge.bridge-nf-call-iptables is 1: kubeproxy explain NAMESPACE/NAME --probe tries them',
        ]
      : []),
  ];
}
