import { before, describe, it } from 'node:test';
import { backendContract } from '../../../../src/testing/contract/backend-contract.js';
import { ipvs } from '../../contract/ipvs.js';
import { nftables } from '../../contract/nftables.js';
import { tool } from './tool.js';

const contracts = { nftables: backendContract(nftables), ipvs: backendContract(ipvs) };
const mode = process.argv[2] as keyof typeof contracts;

describe(`the backend of ${mode} mode on a real kernel`, () => {
  if (mode === 'ipvs')
    before(() => tool('modprobe', '-a', 'ip_vs', 'ip_set', 'nf_conntrack_netlink', 'dummy'));

  for (const { name, run } of contracts[mode]) it(name, run);
});
