import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kernelSides } from '../../../../src/diagnostics/adapters/compare/kernel-sides.js';
import { IptablesTool } from '../../../../src/adapters/iptables/iptables-tool.js';
import { tool } from './tool.js';

describe('what `compare --kernel` takes the rules of a node for', () => {
  const iptables = new IptablesTool({ variant: 'legacy' });
  const restore = (lines: string) => iptables.restore('IPv4', [`*nat\n${lines}COMMIT\n`].values());
  const modeHere = async () => (await kernelSides(['IPv4'])).IPv4?.mode;

  it('is decided by rules, not by a device kube-ipvs0 that is left over', async () => {
    const rule =
      '-m comment --comment "Kubernetes service cluster ip" -m set --match-set KUBE-CLUSTER-IP dst,dst';
    await tool('ip', 'link', 'add', 'kube-ipvs0', 'type', 'dummy');
    await restore(':KUBE-SERVICES - [0:0]\n-A KUBE-SERVICES -d 10.96.0.1/32 -j RETURN\n');
    assert.equal(await modeHere(), 'iptables');
    await tool('ipset', 'create', 'KUBE-CLUSTER-IP', 'hash:ip,port');
    await restore(`-A KUBE-SERVICES ${rule} -j ACCEPT\n`);
    assert.equal(await modeHere(), 'ipvs');
    await restore('-F KUBE-SERVICES\n-X KUBE-SERVICES\n');
    await tool('ipset', 'destroy', 'KUBE-CLUSTER-IP');
    await tool('ip', 'link', 'del', 'kube-ipvs0');
  });
});
