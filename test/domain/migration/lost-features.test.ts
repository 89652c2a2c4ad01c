import { lostFeatures, unprotected } from '../../../src/domain/migration/lost-features.js';
import { daemonSet } from '../../application/migration/cluster-in-memory.js';

const from = {
  ...daemonSet('kube-proxy-ts', 'kube-proxy-ts', 'ipvs'),
  ipvs: { scheduler: 'lc', excludeCIDRs: ['10.9.0.0/16'], strictARP: true, timeouts: ['tcpTimeout: 15m0s'] },
};
const target = daemonSet('kube-proxy-ts-nftables', 'kube-proxy-ts', 'nftables');

it('tells what of mode ipvs other modes do not do', () => {
  expect(lostFeatures(from, target, ['lc', 'mh'])).toEqual([
    'the scheduler lc of the configuration: mode nftables chooses at random',
    'excludeCIDRs 10.9.0.0/16: only mode ipvs, and the removal of its rules, heed it',
    'strictARP: what it set stays until the node restarts, and is not set again',
    "tcpTimeout: 15m0s: the kernel's timeouts of connection tracking count instead",
    'the scheduler lc of Services: mode nftables chooses at random',
  ]);
});

it('mode iptables has no scheduler at all, and kube-proxy none of a Service', () => {
  expect(lostFeatures(undefined, { program: 'kube-proxy-ts', mode: 'iptables' }, ['mh'])).toEqual([
    'the scheduler mh of Services: mode iptables chooses at random',
  ]);
  expect(lostFeatures(from, { program: 'kube-proxy', mode: 'ipvs' }, ['mh'])).toEqual([
    'the scheduler mh of Services: kube-proxy does not read their annotations',
  ]);
  expect(lostFeatures(from, { program: 'kube-proxy-ts', mode: 'ipvs' }, ['mh'])).toEqual([]);
});

it('a target that would remove virtual servers of others is told', () => {
  expect(unprotected(from, target)).toMatch(/kube-proxy-ts-nftables lacks ipvs.excludeCIDRs 10\.9\.0\.0\/16/);
  expect(unprotected(from, { ...target, ipvs: from.ipvs })).toBeUndefined();
  expect(unprotected(target, target)).toBeUndefined();
});
