import { sameService, type VirtualServer } from '../../../src/domain/ipvs/virtual-server.js';

const server: VirtualServer = {
  ...{ address: '10.96.0.1', protocol: 'TCP', port: 80 },
  ...{ scheduler: 'rr', flags: 0, persistenceSeconds: 0 },
};

it.each([{}, { scheduler: 'mh' }, { flags: 1 }, { persistenceSeconds: 60 }])(
  'a virtual server is another one for the kernel with %j',
  (change) => {
    expect(sameService(server, { ...server, ...change })).toBe(Object.keys(change).length === 0);
  },
);
