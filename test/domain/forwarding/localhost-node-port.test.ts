import { localhostNodePort, localhostPlace } from '../../../src/domain/forwarding/localhost-node-port.js';
import type { Service } from '../../../src/domain/model/service.js';
import { endpoint } from '../../support/samples.js';
import { entryOf } from '../../support/traffic/flows.js';

const NODE_PORT = { name: '', protocol: 'TCP', port: 80, nodePort: 30080 } as const;
const HERE = endpoint('10.244.1.1', { isLocal: true });
const ELSEWHERE = endpoint('10.244.2.1');

function relayed(parts: Partial<Service> = {}, endpoints = [HERE, ELSEWHERE]): unknown {
  const found = localhostNodePort(
    entryOf({ type: 'NodePort', ports: [NODE_PORT], ...parts } as Partial<Service>, endpoints),
  );
  return found && { ...found, endpoints: found.endpoints.map(({ address }) => address) };
}

describe('localhostNodePort (docs/internals/spec/changes-1.37.md §4.1)', () => {
  it('leads a TCP node port to the endpoints of cluster traffic', () => {
    expect(relayed({ affinitySeconds: 60 })).toEqual({
      port: 30080,
      endpoints: ['10.244.1.1', '10.244.2.1'],
      affinitySeconds: 60,
    });
  });

  it('leads to those on this node alone where the external policy is Local', () => {
    expect(relayed({ externalPolicyLocal: true })).toMatchObject({ endpoints: ['10.244.1.1'] });
    expect(relayed({ externalPolicyLocal: true }, [ELSEWHERE])).toMatchObject({ endpoints: [] });
  });

  it('leaves the internal policy and source ranges aside', () => {
    expect(relayed({ internalPolicyLocal: true }, [ELSEWHERE])).toMatchObject({ endpoints: ['10.244.2.1'] });
  });

  it('is nothing for other protocols, and without a node port', () => {
    expect(relayed({ ports: [{ ...NODE_PORT, protocol: 'UDP' }] } as Partial<Service>)).toBeUndefined();
    expect(relayed({ ports: [{ ...NODE_PORT, nodePort: 0 }] } as Partial<Service>)).toBeUndefined();
  });

  it('is on one loopback address of the family', () => {
    expect([localhostPlace('IPv4', 30080), localhostPlace('IPv6', 30080)]).toEqual([
      '127.0.0.1:30080',
      '[::1]:30080',
    ]);
  });
});
