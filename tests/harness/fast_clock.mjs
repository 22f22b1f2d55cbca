/** A faster clock for a Worker that runs in a test. The published Worker does not contain it. */

/** Converts a real time to the time of a fast clock, both in milliseconds since the Unix epoch. */
export function fastTime({ rate, epoch }, at) {
  return epoch + (at - epoch) * rate;
}

/** Makes `Date.now` and `setTimeout` follow the clock. Returns the same for a class with alarms. */
export function accelerate(clock) {
  const { now } = Date;
  const { setTimeout } = globalThis;
  Date.now = () => fastTime(clock, now());
  globalThis.setTimeout = (callback, milliseconds = 0, ...args) =>
    setTimeout(callback, milliseconds / clock.rate, ...args);
  const realTime = (at) => clock.epoch + (Number(at) - clock.epoch) / clock.rate;
  let isPatched = false;
  const patch = (storage) => {
    if (isPatched) return;
    isPatched = true;
    const { getAlarm, setAlarm } = storage;
    storage.setAlarm = function (at, ...rest) {
      return setAlarm.call(this, realTime(at), ...rest);
    };
    storage.getAlarm = async function (...options) {
      const at = await getAlarm.apply(this, options);
      return at === null ? null : fastTime(clock, at);
    };
  };
  return (Class) =>
    class extends Class {
      constructor(context, env) {
        patch(Object.getPrototypeOf(context.storage));
        super(context, env);
      }
    };
}
