//! Libraries of cryptographic proofs, and what proofs are made of.

use super::against_one_thread;
use crate::random::Random;
use crate::{Case, Check, Size};
use ark_bls12_381::{Fr, G1Projective};
use ark_ec::scalar_mul::ScalarMul;
use ark_ec::{CurveGroup, PrimeGroup, VariableBaseMSM};
use ark_ff::PrimeField;
use ark_poly::{EvaluationDomain, Radix2EvaluationDomain};

fn scalars(random: &mut Random, count: usize) -> Vec<Fr> {
    let mut scalar = || {
        let bytes: Vec<u8> = random.numbers(4).iter().flat_map(|x| x.to_le_bytes()).collect();
        Fr::from_le_bytes_mod_order(&bytes)
    };
    (0..count).map(|_| scalar()).collect()
}

/// A number-theoretic transform over the scalars of BLS12-381, and its inverse.
pub(super) fn fft(size: Size) -> Case {
    let count = size.pick(1 << 17, 1 << 10);
    let coefficients = scalars(&mut Random(30), count);
    let domain: Radix2EvaluationDomain<Fr> =
        Radix2EvaluationDomain::new(count).expect("the field has a subgroup of that size");
    against_one_thread(move || {
        let values = domain.fft(&coefficients);
        let back = domain.ifft(&values);
        (values, back == coefficients)
    })
}

/// A sum of points of BLS12-381, each times a scalar. The library starts a pool of two threads for each part of the sum.
pub(super) fn msm(size: Size) -> Case {
    let mut random = Random(31);
    let count = size.pick(1 << 14, 1 << 7);
    let points = G1Projective::generator().batch_mul(&scalars(&mut random, count));
    let factors = scalars(&mut random, count);
    against_one_thread(move || {
        let sum = G1Projective::msm(&points, &factors).expect("there are as many points as factors");
        sum.into_affine()
    })
}

/// Makes the points that halo2's proofs commit to: hashes numbers to a curve, and transforms the points.
pub(super) fn halo2(size: Size) -> Case {
    use halo2_proofs::pasta::EqAffine;
    use halo2_proofs::poly::commitment::Params;
    let logarithm = size.pick(9, 4);
    against_one_thread(move || {
        let mut bytes = Vec::new();
        Params::<EqAffine>::new(logarithm).write(&mut bytes).expect("a vector takes all bytes");
        bytes
    })
}

/// Proves that a number was cubed and increased many times. The proofs of two runs differ, because the library takes any number that
/// passes its last test; so each proof is verified.
pub(super) fn winterfell(size: Size) -> Case {
    use self::cubes::{Cubes, Prover, Statement, cubed, trace};
    use ::winterfell::crypto::{DefaultRandomCoin, MerkleTree, hashers::Blake3_256};
    use ::winterfell::math::fields::f128::BaseElement;
    use ::winterfell::{AcceptableOptions, BatchingMethod, FieldExtension, ProofOptions, Prover as _};
    type Hash = Blake3_256<BaseElement>;

    let steps = size.pick(1 << 15, 1 << 10);
    let start = BaseElement::new(3);
    let result = (1..steps).fold(start, |number, _| cubed(number));
    let linear = BatchingMethod::Linear;
    let prover = Prover { options: ProofOptions::new(32, 8, 0, FieldExtension::None, 8, 31, linear, linear) };
    Case::new(move || {
        let proof = prover.prove(trace(start, steps)).expect("the statement is true");
        Check::new(move || {
            let statement = Statement { start, result };
            let options = AcceptableOptions::MinConjecturedSecurity(80);
            ::winterfell::verify::<Cubes, Hash, DefaultRandomCoin<Hash>, MerkleTree<Hash>>(
                proof, statement, &options,
            )
            .is_ok()
        })
    })
}

/// A computation, described for winterfell.
mod cubes {
    use winterfell::crypto::{DefaultRandomCoin, MerkleTree, hashers::Blake3_256};
    use winterfell::math::fields::f128::BaseElement;
    use winterfell::math::{FieldElement, ToElements};
    use winterfell::matrix::ColMatrix;
    use winterfell::{
        Air, AirContext, Assertion, AuxRandElements, CompositionPoly, CompositionPolyTrace,
        ConstraintCompositionCoefficients, DefaultConstraintCommitment, DefaultConstraintEvaluator,
        DefaultTraceLde, EvaluationFrame, PartitionOptions, ProofOptions, StarkDomain, Trace, TraceInfo,
        TracePolyTable, TraceTable, TransitionConstraintDegree,
    };

    /// One step of the computation.
    pub(super) fn cubed(number: BaseElement) -> BaseElement {
        number.exp(3_u32.into()) + BaseElement::new(42)
    }

    pub(super) fn trace(start: BaseElement, steps: usize) -> TraceTable<BaseElement> {
        let mut trace = TraceTable::new(1, steps);
        trace.fill(|state| state[0] = start, |_, state| state[0] = cubed(state[0]));
        trace
    }

    pub(super) struct Statement {
        pub(super) start: BaseElement,
        pub(super) result: BaseElement,
    }

    impl ToElements<BaseElement> for Statement {
        fn to_elements(&self) -> Vec<BaseElement> {
            vec![self.start, self.result]
        }
    }

    pub(super) struct Cubes {
        context: AirContext<BaseElement>,
        start: BaseElement,
        result: BaseElement,
    }

    impl Air for Cubes {
        type BaseField = BaseElement;
        type PublicInputs = Statement;

        fn new(trace_info: TraceInfo, statement: Statement, options: ProofOptions) -> Self {
            let degrees = vec![TransitionConstraintDegree::new(3)];
            Cubes {
                context: AirContext::new(trace_info, degrees, 2, options),
                start: statement.start,
                result: statement.result,
            }
        }

        fn evaluate_transition<E: FieldElement + From<Self::BaseField>>(
            &self,
            frame: &EvaluationFrame<E>,
            _periodic_values: &[E],
            result: &mut [E],
        ) {
            let next = frame.current()[0].exp(3_u32.into()) + E::from(42_u32);
            result[0] = frame.next()[0] - next;
        }

        fn get_assertions(&self) -> Vec<Assertion<Self::BaseField>> {
            let last = self.trace_length() - 1;
            vec![Assertion::single(0, 0, self.start), Assertion::single(0, last, self.result)]
        }

        fn context(&self) -> &AirContext<Self::BaseField> {
            &self.context
        }
    }

    pub(super) struct Prover {
        pub(super) options: ProofOptions,
    }

    impl winterfell::Prover for Prover {
        type BaseField = BaseElement;
        type Air = Cubes;
        type Trace = TraceTable<Self::BaseField>;
        type HashFn = Blake3_256<Self::BaseField>;
        type VC = MerkleTree<Self::HashFn>;
        type RandomCoin = DefaultRandomCoin<Self::HashFn>;
        type TraceLde<E: FieldElement<BaseField = Self::BaseField>> =
            DefaultTraceLde<E, Self::HashFn, Self::VC>;
        type ConstraintCommitment<E: FieldElement<BaseField = Self::BaseField>> =
            DefaultConstraintCommitment<E, Self::HashFn, Self::VC>;
        type ConstraintEvaluator<'a, E: FieldElement<BaseField = Self::BaseField>> =
            DefaultConstraintEvaluator<'a, Self::Air, E>;

        fn get_pub_inputs(&self, trace: &Self::Trace) -> Statement {
            Statement { start: trace.get(0, 0), result: trace.get(0, trace.length() - 1) }
        }

        fn options(&self) -> &ProofOptions {
            &self.options
        }

        fn new_trace_lde<E: FieldElement<BaseField = Self::BaseField>>(
            &self,
            trace_info: &TraceInfo,
            main_trace: &ColMatrix<Self::BaseField>,
            domain: &StarkDomain<Self::BaseField>,
            partition_option: PartitionOptions,
        ) -> (Self::TraceLde<E>, TracePolyTable<E>) {
            DefaultTraceLde::new(trace_info, main_trace, domain, partition_option)
        }

        fn build_constraint_commitment<E: FieldElement<BaseField = Self::BaseField>>(
            &self,
            composition_poly_trace: CompositionPolyTrace<E>,
            num_constraint_composition_columns: usize,
            domain: &StarkDomain<Self::BaseField>,
            partition_options: PartitionOptions,
        ) -> (Self::ConstraintCommitment<E>, CompositionPoly<E>) {
            DefaultConstraintCommitment::new(
                composition_poly_trace,
                num_constraint_composition_columns,
                domain,
                partition_options,
            )
        }

        fn new_evaluator<'a, E: FieldElement<BaseField = Self::BaseField>>(
            &self,
            air: &'a Self::Air,
            aux_rand_elements: Option<AuxRandElements<E>>,
            composition_coefficients: ConstraintCompositionCoefficients<E>,
        ) -> Self::ConstraintEvaluator<'a, E> {
            DefaultConstraintEvaluator::new(air, aux_rand_elements, composition_coefficients)
        }
    }
}
