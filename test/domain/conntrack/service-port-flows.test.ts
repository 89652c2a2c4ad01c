import { servicePortFlows } from '../../../src/domain/conntrack/desired-flows.js';
import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import { endpointPlace } from '../../../src/domain/model/endpoint.js';
import { FORWARDING, endpoint, service } from '../../support/samples.js';

const context = { ...FORWARDING, ejectUnresponsiveEndpoints: true };

describe('endpoints that may keep their flows', () => {
  const serving = endpoint('10.244.2.1');
  const draining = endpoint('10.244.2.2', { ready: false, terminating: true });
  const dead = endpoint('10.244.2.3', { ready: false, serving: false });
  const silent = endpoint('10.244.2.4');

  it.each([
    ['TCP', ['10.244.2.1:8080', '10.244.2.2:8080']],
    ['SCTP', ['10.244.2.1:8080', '10.244.2.2:8080']],
    ['UDP', ['10.244.2.1:8080', '10.244.2.2:8080', '10.244.2.4:8080']],
  ] as const)('of %s are those that serve, and do not step aside', (protocol, expected) => {
    const ports = [{ name: '', protocol, port: 80, nodePort: 0 }];
    const endpoints = [serving, draining, dead, silent];
    const aside = () => new Set(['10.244.2.4:8080']);
    const [entry] = forwardService(service({ ports }), () => endpoints, context, { ejected: aside });
    expect([...servicePortFlows(entry!).endpoints]).toEqual(expected);
  });

  it.each(['TCP', 'UDP', 'SCTP'] as const)('of %s are those of weight 0, too', (protocol) => {
    const ports = [{ name: '', protocol, port: 80, nodePort: 0 }];
    const weights = { [serving.address]: 0, [draining.address]: 0 };
    const endpoints = [serving, draining, silent];
    const [entry] = forwardService(service({ ports, weights }), () => endpoints, FORWARDING);
    expect(entry!.endpoints.reachable).toEqual([silent]);
    expect([...servicePortFlows(entry!).endpoints]).toEqual(endpoints.map(endpointPlace));
  });
});
