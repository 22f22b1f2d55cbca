/** A faster clock for a Worker that runs in a test. The published Worker does not contain it. */

/**
 * @typedef {object} FastClock
 * @property {number} rate how many times as fast as the real clock
 * @property {number} epoch the Unix time in milliseconds at which both clocks agree
 *
 * @typedef {new (context: object, env: object) => object} DurableObjectClass
 */

/** Converts a real time to the time of a fast clock, both in milliseconds since the Unix epoch. */
export function fastTime({ rate, epoch }, at) {
  return epoch + (at - epoch) * rate;
}

/**
 * Makes `Date.now` and `setTimeout` follow the clock. Returns a function that makes the alarms of a
 * Durable Object class follow it too.
 *
 * @param {FastClock} clock
 * @returns {(Class: DurableObjectClass) => DurableObjectClass}
 */
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
    const { setAlarm } = storage;
    storage.setAlarm = function (at, ...rest) {
      return setAlarm.call(this, realTime(at), ...rest);
    };
    storage.getAlarm = () => {
      throw new Error("the fast clock does not convert the times of alarms");
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
