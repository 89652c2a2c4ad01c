import { backendContract } from '../../../src/testing/contract/backend-contract.js';
import type { ContractCase } from '../../../src/testing/contract/backend-subject.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import {
  iptablesSubject,
  ipvsSubject,
  nftablesSubject,
  recordingSubject,
  userspaceSubject,
} from './subjects.js';

const contracts: Readonly<Record<string, (family: IpFamily) => readonly ContractCase[]>> = {
  recording: (family) => backendContract(recordingSubject(family)),
  nftables: (family) => backendContract(nftablesSubject(family)),
  iptables: (family) => backendContract(iptablesSubject(family)),
  ipvs: (family) => backendContract(ipvsSubject(family)),
  userspace: (family) => backendContract(userspaceSubject(family)),
};

describe.each(Object.keys(contracts))('the backend %s', (name) => {
  describe.each(IP_FAMILIES)('for %s', (family) => {
    for (const { name: promise, run } of contracts[name]!(family)) it(promise, run);
  });
});
