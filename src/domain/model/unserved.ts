/**
 * Why no node's rules contain a valid Service: its name resolves to its pods, or to another name; another proxy has it; or it
 * has no address yet.
 */
export type UnservedKind = 'headless' | 'external-name' | 'other-proxy' | 'no-cluster-ip';
