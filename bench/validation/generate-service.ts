import type { Dice, Fields } from './dice.js';
import {
  BAD_ADDRESSES,
  BAD_NAMES,
  BAD_NETWORKS,
  BAD_PORTS,
  BAD_PROTOCOLS,
  NETWORKS,
  PROTOCOLS,
  V4,
  V6,
} from './values.js';

/** Of a Service, what is beside its metadata. */
export function service(dice: Dice): Fields {
  const type = dice.of(['ClusterIP', 'ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName', undefined]);
  const v4 = `10.96.${10 + dice.below(200)}.${1 + dice.below(250)}`;
  const v6 = `fd00:10:96::${(16 + dice.below(60_000)).toString(16)}`;
  const families = dice.of([['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], ['IPv6', 'IPv4'], undefined]);
  const headless = (type === undefined || type === 'ClusterIP') && dice.chance(0.15);
  const ips = headless ? ['None'] : (families ?? ['IPv4']).map((family) => (family === 'IPv4' ? v4 : v6));
  const external = type === 'ExternalName';
  const spec: Fields = {
    ...(type && { type: dice.either([type], ['clusterip', 'Nodeport', '', 'Headless', 5]) }),
  };
  if (dice.chance(external ? 0.3 : 0.99)) spec.ports = dice.list(3, (index) => servicePort(dice, index));
  if (Array.isArray(spec.ports) && spec.ports.length === 0 && !dice.risky) spec.ports = [{ port: 80 }];
  if (type === 'ClusterIP' || type === undefined || external)
    for (const port of (spec.ports ?? []) as Fields[]) if (!dice.risky) delete port.nodePort;
  if (!external || dice.chance(0.1)) {
    if (families)
      spec.ipFamilies = dice.either([families], [['IPv5'], ['IPv4', 'IPv4'], ['IPv6'], 'IPv4', [null], []]);
    if (families?.length === 2 || dice.chance(0.3))
      spec.ipFamilyPolicy = dice.either(
        families?.length === 2 ? ['PreferDualStack', 'RequireDualStack'] : ['SingleStack', 'PreferDualStack'],
        ['SingleStack', '', 'DualStack', null, 4],
      );
    if (headless || dice.chance(0.4)) {
      spec.clusterIP = dice.either([ips[0]], ['None', '', 'x', '10.96.9', v6, v4, '10.96.0.010', null]);
      if (dice.chance(0.5))
        spec.clusterIPs = dice.either([ips], [[v6, v4], [v4, v4], ['None', 'None'], [], [''], 'x', [null]]);
    } else if (dice.risky) spec.clusterIPs = ips;
  }
  const balanced = type === 'LoadBalancer';
  const often = (likely: boolean): number => (likely ? 0.4 : dice.risky ? 1 : 0);
  Object.assign(
    spec,
    dice.fields({
      selector: [
        0.5,
        () => dice.either([{ app: 'web' }, {}], [{ app: 'a b' }, { 'a b': 'c' }, { app: 5 }, 'app', null]),
      ],
      externalName: [
        external ? 0.97 : 0.02,
        () => dice.either(['a.example.com', 'a.example.com.', 'a'], ['', 'A.b', 'a_b', '-', 5]),
      ],
      externalIPs: [0.15, () => dice.list(2, () => dice.either([...V4, ...V6], BAD_ADDRESSES))],
      externalTrafficPolicy: [
        often(balanced || type === 'NodePort'),
        () => dice.either(['Cluster', 'Local', ''], ['local', 'Nearby', null, 5]),
      ],
      internalTrafficPolicy: [0.2, () => dice.either(['Cluster', 'Local'], ['', 'local', null])],
      sessionAffinity: [0.3, () => dice.either(['None', 'ClientIP', ''], ['Cookie', 'clientIP', 5])],
      sessionAffinityConfig: [
        0.2,
        () =>
          dice.either(
            [{ clientIP: { timeoutSeconds: 60 } }, {}, { clientIP: {} }],
            [
              { clientIP: { timeoutSeconds: 0 } },
              { clientIP: { timeoutSeconds: 86401 } },
              { clientIp: {} },
              'x',
              null,
            ],
          ),
      ],
      loadBalancerSourceRanges: [
        often(balanced),
        () => dice.list(2, () => dice.either([...NETWORKS, ' 10.0.0.0/8 '], BAD_NETWORKS)),
      ],
      loadBalancerClass: [
        often(balanced),
        () => dice.either(['internal', 'example.com/lb'], ['', 'a b', null]),
      ],
      allocateLoadBalancerNodePorts: [often(balanced), () => dice.either([true, false], ['yes', null, 1])],
      healthCheckNodePort: [
        often(balanced && dice.chance(0.3)),
        () => dice.either([32100 + dice.below(600), 0], [-1, 70000, 'x']),
      ],
      loadBalancerIP: [0.05, () => dice.either(['192.0.2.1', 'x'], [5])],
      publishNotReadyAddresses: [0.1, () => dice.either([true, false], ['true', 1, null])],
      trafficDistribution: [
        0.1,
        () => dice.either(['PreferClose', 'PreferSameZone', 'PreferSameNode'], ['', 'Close', null]),
      ],
    }),
  );
  return dice.chance(0.005) ? {} : { spec };
}

function servicePort(dice: Dice, index: number): Fields {
  return dice.fields({
    port: [0.99, () => dice.either([80 + index, 443 + index, 65535 - index], [...BAD_PORTS, 80])],
    name: [0.9, () => dice.either([`p${index}`, `http-${index}`], [...BAD_NAMES, 'p0'])],
    protocol: [0.6, () => dice.either(PROTOCOLS, BAD_PROTOCOLS)],
    targetPort: [
      0.6,
      () =>
        dice.either(
          [8080, 'http', 'a-1', 0],
          ['HTTP', '80', 'a--b', '-a', 'x'.repeat(16), '', true, 70000, -1, null],
        ),
    ],
    appProtocol: [0.2, () => dice.either(['http', 'kubernetes.io/h2c'], ['', 'a b', 'A/b', 5])],
    nodePort: [0.15, () => 30100 + dice.below(dice.risky ? 3 : 2000)],
  });
}
