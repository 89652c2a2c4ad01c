import type { IptablesVariant } from '../../../src/adapters/iptables/iptables-commands.js';
import type { TransportName } from '../../support/program/proxy-process.js';

/** By which means rules are written: a transport of nftables, or a variant of iptables. */
export type Way = TransportName | IptablesVariant;

/** What is wrong with the rules of a service; what is refused is refused by the kernel, or by the tool before it. */
export type Poison = 'rules that are refused' | 'rules that cannot be read' | 'a compiler that gives up';
