import { nodeSettings } from '../../src/bootstrap/this-node.js';
import { parse } from './configuration/support.js';

it('leaves node port addresses, policies and topology aside in mode userspace alone', () => {
  const flags = ['--nodeport-addresses=192.0.2.0/24'];
  expect(nodeSettings(parse(['--proxy-mode=iptables', ...flags]))).toMatchObject({
    nodePortAddresses: ['192.0.2.0/24'],
    everyEndpoint: false,
  });
  expect(nodeSettings(parse(['--proxy-mode=userspace', ...flags]))).toMatchObject({
    nodePortAddresses: [],
    everyEndpoint: true,
  });
});
