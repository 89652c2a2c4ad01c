import { chosenOf, STRANGER, type Deed } from './deed.js';

const DEVICE = 'kube-ipvs0';

const inIpvs: Deed['isPossible'] = ({ settings }) => settings.mode === 'ipvs';

/** What other programs do to IP sets, virtual servers, addresses and connections. */
export const OTHER_DEEDS: Readonly<Record<string, Deed>> = {
  'ipset-flush': {
    isHarm: true,
    isPossible: inIpvs,
    do({ world: { machine } }, choice) {
      const name = chosenOf(machine.programs.sets.names, choice);
      if (name !== undefined) machine.programs.run(['ipset', 'flush', name]);
    },
  },
  'ipset-delete': {
    isHarm: true,
    isPossible: inIpvs,
    do({ world: { machine } }, choice) {
      const { sets } = machine.programs;
      const members = sets.names.flatMap((name) =>
        [...sets.get(name)!.members].map((member) => [name, member] as const),
      );
      const found = chosenOf(members, choice);
      if (found) machine.programs.run(['ipset', 'del', ...found]);
    },
  },
  'ipset-destroy': {
    isHarm: true,
    isPossible: inIpvs,
    do: ({ world: { machine } }) => void machine.programs.run(['ipset', 'destroy']),
  },
  'ipvsadm-clear': {
    isHarm: true,
    isPossible: inIpvs,
    do: ({ world: { machine } }) => void machine.servers.flush(STRANGER),
  },
  'address-removed': {
    isHarm: true,
    isPossible: inIpvs,
    do({ world: { machine } }, choice) {
      const found = chosenOf([...machine.links.addresses(DEVICE)], choice);
      if (found) machine.links.removeAddress(DEVICE, found.address, undefined, STRANGER);
    },
  },
  'device-removed': {
    isHarm: true,
    isPossible: inIpvs,
    do: ({ world: { machine } }) => void machine.links.removeLink(DEVICE, STRANGER),
  },
  'conntrack-flush': {
    isHarm: false,
    isPossible: () => true,
    do: ({ world: { machine } }) => machine.connections.flush(undefined, STRANGER),
  },
};
