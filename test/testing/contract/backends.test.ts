import { backendContract } from '../../../src/testing/contract/backend-contract.js';
import type { ContractCase } from '../../../src/testing/contract/backend-subject.js';
import {
  iptablesSubject,
  ipvsSubject,
  nftablesSubject,
  recordingSubject,
  userspaceSubject,
} from './subjects.js';

/** One family each: what differs between families is in `incremental.test.ts`, and in the contract on simulated kernels. */
const contracts: Readonly<Record<string, readonly ContractCase[]>> = {
  'recording for IPv4': backendContract(recordingSubject('IPv4')),
  'nftables for IPv6': backendContract(nftablesSubject('IPv6')),
  'iptables for IPv4': backendContract(iptablesSubject('IPv4')),
  'ipvs for IPv6': backendContract(ipvsSubject('IPv6')),
  'userspace for IPv4': backendContract(userspaceSubject('IPv4')),
};

describe.each(Object.entries(contracts))('the backend %s', (_, cases) => {
  for (const { name: promise, run } of cases) it(promise, run);
});
