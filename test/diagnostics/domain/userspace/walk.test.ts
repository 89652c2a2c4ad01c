import { desiredUserspace } from '../../../../src/diagnostics/domain/userspace-walk.js';
import type { ProxyAddress } from '../../../../src/domain/userspace/portals.js';
import { parseAddress } from '../../../../src/domain/net/address.js';
import type { Service } from '../../../../src/domain/model/service.js';
import type { Packet } from '../../../../src/diagnostics/domain/trace/trace.js';
import { entryOf } from '../../../adapters/ipvs/services.js';
import { ARRIVING, NODE } from '../../../support/iptables/walked.js';

const EVERYWHERE: ProxyAddress = { listen: undefined, host: '198.51.100.1' };
const PARTS: Partial<Service> = {
  ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 30080 }],
  externalIPs: [parseAddress('192.0.2.10')!],
};
const fromNode: Partial<Packet> = { inputInterface: undefined, source: '198.51.100.1' };

const walked = (packet: Partial<Packet>, endpoints: readonly number[], parts = PARTS, address = EVERYWHERE) =>
  desiredUserspace([entryOf('a', [7]), entryOf('j', endpoints, parts)], address, () => undefined).walk(
    { ...ARRIVING, ...packet },
    NODE,
  );

describe('a packet in mode userspace', () => {
  it.each<[string, Partial<Packet>]>([
    ['its cluster IP, from outside', {}],
    ['its cluster IP, from the node', fromNode],
    ['its external IP', { destination: '192.0.2.10' }],
    ['its node port', { destination: '198.51.100.1', destinationPort: 30080 }],
    ['its node port, from the node', { ...fromNode, destination: '127.0.0.1', destinationPort: 30080 }],
  ])('is passed on to the endpoints in turn, with an address of the node as its source: %s', (_, packet) => {
    for (const address of [EVERYWHERE, { listen: '198.51.100.1', host: '198.51.100.1' }]) {
      const endings = walked(packet, [1, 2], PARTS, address);
      expect(endings).toMatchObject(
        ['10.244.1.1', '10.244.1.2'].map((endpoint) => ({
          verdict: 'forward',
          endpoint: { address: endpoint, port: 8080 },
          probability: 0.5,
          masquerade: true,
          sticky: false,
        })),
      );
      expect(endings[0]!.steps.at(-1)).toEqual({
        hook: 'process',
        where: 'proxy socket',
        rule: 'port 2/TCP',
        effect:
          'passed on to 10.244.1.1:8080, 1 in 2 in turn, over a connection of its own, which rewrites the source to an address of this node',
        servicePort: 'shop/j',
      });
    }
  });

  it('is passed on to its only endpoint', () => {
    expect(walked({}, [1])[0]!.steps.at(-1)!.effect).toBe(
      'passed on to 10.244.1.1:8080, over a connection of its own, which rewrites the source to an address of this node',
    );
  });

  it('is left alone where no portal leads: another port, an external IP from a node that does not have it', () => {
    expect(walked({ destinationPort: 81 }, [1])).toMatchObject([{ verdict: 'untouched', steps: [] }]);
    expect(walked({ ...fromNode, destination: '192.0.2.10' }, [1])).toMatchObject([{ verdict: 'untouched' }]);
  });

  it('keeps its endpoint where the Service asks for that', () => {
    expect(walked({}, [1, 2], { ...PARTS, affinitySeconds: 60 })).toMatchObject([
      { sticky: true },
      { sticky: true },
    ]);
  });

  it('is refused without endpoints, or lost if it is a datagram', () => {
    const [closed] = walked({}, []);
    expect(closed).toMatchObject({ verdict: 'reject', probability: 1 });
    expect(closed!.steps.at(-1)!.effect).toBe('closed immediately: there is no endpoint');
    const udp: Partial<Service> = { ports: [{ name: '', protocol: 'UDP', port: 80, nodePort: 0 }] };
    const [lost] = walked({ protocol: 'UDP' }, [], udp);
    expect(lost!.verdict).toBe('drop');
    expect(lost!.steps.at(-1)!.effect).toBe('dropped: there is no endpoint');
  });

  it('finds no socket for SCTP', () => {
    const sctp: Partial<Service> = { ports: [{ name: '', protocol: 'SCTP', port: 80, nodePort: 0 }] };
    expect(walked({ protocol: 'SCTP' }, [1], sctp)).toMatchObject([{ verdict: 'untouched' }]);
  });
});
