import type { IptablesVariant } from '../../../src/adapters/iptables/iptables-commands.js';

/** By which means rules are written: mode nftables, or a variant of iptables. */
export type Way = 'nftables' | IptablesVariant;

/** What is wrong with the rules of a service; what is refused is rejected by the kernel, or by the tool before it. */
export type Poison = 'rules that are refused' | 'rules that cannot be read' | 'a compiler that gives up';
