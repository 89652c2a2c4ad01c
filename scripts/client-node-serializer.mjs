/** Request bodies as they are: this program makes valid JSON, and the types of client-node check its fields. */
export const ObjectSerializer = {
  serialize: (data) => data,
  stringify: (data) => JSON.stringify(data),
  getPreferredMediaType: ([first = 'application/json']) => first,
};
