import type { Dice, Fields } from './dice.js';
import { BAD_ADDRESSES, BAD_NAMES, BAD_PORTS, BAD_PROTOCOLS, PROTOCOLS, V4, V6 } from './values.js';

/** Of the other kinds, what is beside their metadata. */

export function endpointSlice(dice: Dice): Fields {
  const type = dice.of(['IPv4', 'IPv4', 'IPv6', 'FQDN']);
  const addresses = {
    IPv4: ['10.1.0.1', '10.1.0.2'],
    IPv6: ['fd00::1', '2001:db8::2'],
    FQDN: ['a.example', 'b.a.example.'],
  }[type]!;
  const doubtful = [...BAD_ADDRESSES, 'FD00::1', 'fd00:0::1', 'fd00::5', '10.1.0.3', 'a', 'a_.b', 'A.b'];
  const endpoint = (): Fields =>
    dice.fields({
      addresses: [
        0.99,
        () => [dice.either(addresses, doubtful), ...dice.list(1, () => dice.either(addresses, doubtful))],
      ],
      conditions: [
        0.5,
        () =>
          dice.fields({
            ready: [0.8, () => dice.either([true, false, null], ['true', 1])],
            serving: [0.3, () => true],
            terminating: [0.3, () => false],
          }),
      ],
      hostname: [0.2, () => dice.either(['host-1'], BAD_NAMES)],
      nodeName: [0.4, () => dice.either(['node-1', 'node.example.com'], ['', 'A', 'a b', null, 5])],
      zone: [0.3, () => dice.either(['zone-a', ''], ['a b', 5])],
      targetRef: [0.2, () => dice.either([{ kind: 'Pod', name: 'p' }], [{ knd: 'Pod' }, { name: 5 }, 'p'])],
      hints: [
        0.3,
        () =>
          dice.fields({
            forZones: [
              0.7,
              () =>
                dice.either(
                  [[{ name: 'zone-a' }, { name: 'zone-b' }], []],
                  [
                    [{ name: 'a' }, { name: 'a' }],
                    [{ name: 'a b' }],
                    [{}],
                    'a',
                    Array.from({ length: 9 }, (_, n) => ({ name: `z${n}` })),
                  ],
                ),
            ],
            forNodes: [
              0.3,
              () =>
                dice.either(
                  [[{ name: 'node-1' }]],
                  [[{ name: 'N' }], [{}], [{ name: 'a' }, { name: 'a' }], [null]],
                ),
            ],
          }),
      ],
      deprecatedTopology: [0.05, () => ({ rack: '7' })],
    });
  return dice.fields({
    addressType: [0.99, () => dice.either([type], ['ipv4', '', 'IP', 4, null])],
    ports: [
      0.9,
      () =>
        dice.list(3, (index) =>
          dice.fields({
            name: [0.9, () => dice.either([`p${index}`, `http-${index}`], [...BAD_NAMES, 'p0'])],
            port: [0.9, () => dice.either([8080, 1], ['80', 1.5, null, 3_000_000_000])],
            protocol: [0.6, () => dice.either(PROTOCOLS, BAD_PROTOCOLS)],
            appProtocol: [0.2, () => dice.either(['http', 'kubernetes.io/ws'], ['', 'a b', 5])],
          }),
        ),
    ],
    endpoints: [0.95, () => dice.either([dice.list(3, endpoint)], [null, [null], [{}], 'x'])],
  });
}

export function endpoints(dice: Dice): Fields {
  const address = (): Fields =>
    dice.fields({
      ip: [0.99, () => dice.either([...V4, ...V6], BAD_ADDRESSES)],
      hostname: [0.2, () => dice.either(['host-1', ''], ['A', 'a.b', 5])],
      nodeName: [0.3, () => dice.either(['node-1'], ['', 'A b', null])],
    });
  const subset = (): Fields =>
    dice.fields({
      addresses: [0.9, () => [address(), ...dice.list(1, address)]],
      notReadyAddresses: [0.3, () => [address()]],
      ports: [
        0.9,
        () =>
          dice.list(2, (index) =>
            dice.fields({
              port: [0.99, () => dice.either([80 + index], BAD_PORTS)],
              name: [0.9, () => dice.either([`p${index}`], [...BAD_NAMES, 'p0'])],
              protocol: [0.5, () => dice.either([...PROTOCOLS, ''], ['tcp', 5, null])],
            }),
          ),
      ],
    });
  return dice.fields({ subsets: [0.98, () => dice.list(2, subset)] });
}

export function node(dice: Dice): Fields {
  return dice.fields({
    spec: [
      0.95,
      () =>
        dice.fields({
          podCIDR: [0.2, () => dice.either(['10.244.1.0/24'], ['10.244.1.5/24', 'x', ''])],
          podCIDRs: [
            0.5,
            () =>
              dice.either(
                [['10.244.1.0/24'], ['10.244.1.0/24', 'fd00:10:244::/64'], []],
                [['x'], ['10.1.0.0/24', '10.2.0.0/24'], ['10.1.0.1/24'], 'x', [5]],
              ),
          ],
          unschedulable: [0.1, () => dice.either([true, false], ['x', 1])],
          taints: [
            0.3,
            () => [
              dice.either(
                [
                  { key: 'a', effect: 'NoSchedule' },
                  { key: 'example.com/a', value: 'b', effect: 'NoExecute' },
                ],
                [
                  {},
                  { key: 'a' },
                  { key: 'a b', effect: 'NoSchedule' },
                  { key: 'a', effect: 'Never' },
                  { key: 'a', value: 'b c', effect: 'NoSchedule' },
                ],
              ),
            ],
          ],
        }),
    ],
  });
}

export function serviceCidr(dice: Dice): Fields {
  const cidrs = (): unknown =>
    dice.either(
      [['10.100.0.0/16'], ['10.100.0.0/16', 'fd00:10:100::/112'], ['fd00:10:100::/112']],
      [
        [],
        ['10.100.0.1/16'],
        ['10.100.0.0/16', '10.101.0.0/16'],
        ['FD00:10:100::/112'],
        ['x'],
        'x',
        ['10.100.0.0/16', 'fd00::/64', 'fd01::/64'],
        [null],
      ],
    );
  return dice.fields({ spec: [0.98, () => dice.fields({ cidrs: [0.98, cidrs] })] });
}
