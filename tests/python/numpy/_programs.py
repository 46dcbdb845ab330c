"""Programs of `mx.np` whose answers 1.9.1 has given (tests/reference/numpy/arrays.json.xz), and what an answer is.

A program is statements and an expression, ` ;; ` between them; `names` are what it finds. make_arrays.py runs them on
1.9.1, test_numpy_answers.py here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

FUNCTIONS = """
    abs absolute add all amax amin any append arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax
    argmin argsort around array array_split atleast_1d atleast_2d atleast_3d average bincount bitwise_and
    bitwise_not bitwise_or bitwise_xor blackman broadcast_arrays broadcast_to cbrt ceil clip column_stack
    concatenate copy copysign cos cosh cumsum  degrees delete diag diag_indices_from diagflat diagonal diff
    divide dot dsplit dstack ediff1d einsum equal exp expand_dims expm1 eye fabs fix flip fliplr flipud floor full
    full_like greater greater_equal hamming hanning histogram hsplit hstack hypot identity indices inner insert
    invert isfinite isinf isnan isneginf isposinf lcm ldexp less less_equal linspace log log10 log1p log2
    logical_not logspace matmul max maximum may_share_memory mean meshgrid min minimum mod moveaxis multiply
    nan_to_num negative nonzero not_equal ones ones_like outer pad percentile polyval power prod product quantile
    radians ravel reciprocal remainder repeat reshape rint roll rot90 round round_ row_stack shape
    shares_memory sign sin sinh sometrue sort split sqrt square squeeze stack std subtract sum swapaxes take tan
    tanh tensordot tile trace transpose tril true_divide trunc unique unravel_index var vdot vsplit vstack where
    zeros zeros_like
""".split()

#: Arguments that every function is called with; those that 1.9.1 refuses are left out of the answers.
ARGUMENTS = """
x
x,x
x,2
2,x
x,axis=1
v
2
(2,3)
x,(4,)
[x,x]
x,x,x
x>1,x,x
x>1,2,x
x>1,x,3
x>1,2,3
x,i
1,5
1,5,2
x,0,1
x,(1,0)
(2,3),7
x,7
x,2,axis=0
x,[1],axis=0
'ij,jk->ik',x,x
x,50
x,i,1
x,0
x,1
x,None
i
i,i
i,2
i,2.5
x>1
x>1,x>1
x>1,2
d
d,d
h
z
z,z
z,x
x,z
x,axis=(0,1)
x,axis=-1
x,axis=None
x,keepdims=True
x,axis=0,keepdims=True
x,dtype='float64'
x,axis=0,dtype='int32'
i,axis=0
u
j
np.zeros((0,3))
np.zeros((0,3)),axis=0
x,slice(0,1),axis=0
x,1,axis=1
x,[0,1],[1,0]
(2,),dtype='int32'
3,k=1
2,3,k=-1
x,1,-1
-x
x[0],x[1]
np.ones((2,2,2)),2
np.ones((2,3,4))
np.ones((2,3,4)),axis=1
np.ones((2,3,4)),axis=(0,2)
np.ones((2,3,4)),np.ones((4,2))
x,out=np.zeros((2,2))
v,v,out=np.zeros(3)
v,minlength=5
i,minlength=5
i,weights=v[:2]
x,weights=x
x,axis=0,weights=v[:2],returned=True
x,ddof=1
x,1,constant_values=3
x,1,'edge'
x,((1,0),(0,2))
x,1,mode='reflect'
x,return_index=True,return_counts=True
i,(2,2)
x,(2,2,2)
x,(0,1),(1,0)
x,shift=1
x,1,axis=1
x,reps=(2,1)
x,k=-1
None
[1,2]
[1,2],[3,4]
v,2,'float64'
0,1,num=5
0,1,5,endpoint=False
0,1,5,dtype='int32'
0,1,5,retstep=True
0,1,5,axis=1
5,dtype='float64'
2.5
0,10,2.5
10,0,-3
x,1.5,3
x,None,3
i,None,1
x,None,None
x,v[:2]
x,1,mode='clip'
x,i,axis=1,mode='wrap'
v,v,v
x,bins=3,range=(0,5)
x,bins=v
v,v,indexing='ij'
v,v,sparse=True
x,decimals=1
x,interpolation='lower',q=50
x,v/3,axis=0
x,0.5
x,axes=1
x,x,1
x,x,([0],[1])
x,x,axes=[[0,1],[0,1]]
""".strip().splitlines()

#: Expressions whose gradient by x is asked for, too.
DIFFERENTIATED = """
x*x
x/2
2/x
x**2
2**x
x**x
x%2
-x
abs(x)
x@x
x+x*3
np.exp(x)
np.log(x)
np.sqrt(x)
np.square(x)
np.sin(x)
np.tanh(x)
np.arctan2(x,x)
np.arctan2(x,2)
np.hypot(x,x)
np.maximum(x,2)
np.maximum(x,x)
np.minimum(x,3)
np.power(x,3)
np.reciprocal(x)
np.cbrt(x)
np.log1p(x)
np.expm1(x)
np.log2(x)
np.log10(x)
np.sign(x)
np.floor(x)
np.copysign(x,x)
np.ldexp(x,x)
np.ldexp(x,2)
x.sum()
x.sum(axis=0)
x.mean()
x.mean(axis=1)
x.max()
x.max(axis=0)
x.min()
x.prod()
x.prod(axis=1)
x.T
x.reshape(4)
x.reshape(-1,1)
x[0]
x[0,1]
x[:,1]
x[::-1]
x[i]
x[x>1]
x[None]
x[i,i]
x[...,0]
x.cumsum()
x.cumsum(axis=0)
x.clip(1.5,3)
x.take(i)
x.repeat(2)
x.squeeze()
x.swapaxes(0,1)
x.flatten()
x.dot(x)
np.dot(x,x[0])
np.tensordot(x,x)
np.inner(x,x)
np.outer(x,x)
np.vdot(x,x)
np.einsum('ij,jk->ik',x,x)
np.einsum('ii',x)
np.einsum('ij->j',x)
np.concatenate([x,x*2])
np.stack([x,x])
np.vstack([x,x])
np.hstack([x,x])
np.dstack([x,x])
np.column_stack([x,x])
np.split(x,2)[0]
np.where(x>2,x,x*2)
np.tile(x,2)
np.flip(x,0)
np.roll(x,1)
np.rot90(x)
np.diff(x)
np.ediff1d(x)
np.tril(x)
np.diag(x)
np.diagonal(x)
np.trace(x)
np.pad(x,((1,1),(0,0)))
np.broadcast_to(x,(2,2,2))
np.expand_dims(x,0)
np.moveaxis(x,0,1)
np.average(x,weights=x)
np.linalg.norm(x)
np.linalg.norm(x,axis=1)
np.linalg.inv(x)
np.linalg.det(x)
np.linalg.cholesky(x@x.T)
np.linalg.slogdet(x)[1]
np.matmul(x,x)
np.nan_to_num(x)
np.meshgrid(x[0],x[1])[0]
np.polyval(x[0],x)
npx.relu(x)
npx.sigmoid(x)
npx.softmax(x)[0]
npx.log_softmax(x)[0]
npx.pick(x,i)
npx.smooth_l1(x,scalar=1.)
npx.gamma(x)
npx.gammaln(x)
npx.erf(x)
npx.batch_dot(x.reshape(1,2,2),x.reshape(1,2,2))
npx.fully_connected(x,x,num_hidden=2,no_bias=True)
npx.layer_norm(x,x[0],x[1])
npx.leaky_relu(x)
npx.embedding(i,x,input_dim=2,output_dim=2)
x.astype('float64')
x.copy()
x.as_nd_ndarray().exp()
x.as_nd_ndarray().as_np_ndarray()*x
np.fabs(x)
np.arcsinh(x)
np.radians(x)
np.max(x,axis=(0,1),keepdims=True)
""".strip().splitlines()

#: Of arrays, keys, operators, methods, printing and modes. Those that 1.9.1 refuses are refused here.
PROGRAMS = """
i+1.5
i*2
i/2
i+i
i+x
i+b
b+b
b*2
b+1
b-b
u+i
j+h
d+x
h*2.5
2-i
x>1
x>x
x==n
x+n
n+x
x+[1,2]
x+True
x**2
x//2
x%2
x@x
x@i
-x
abs(x)
~i
~b
i&1
i&i
b&b
b|True
y=x ;; y+=1 ;; x
y=x ;; y**=2 ;; x
y=i ;; y+=1.5 ;; i
y=i ;; y+=x[0] ;; i
x.exp()
x.sort()
y=x[0] ;; y[0]=9 ;; x
y=x[:,0] ;; y[0]=9 ;; x
y=x.reshape(4) ;; y[0]=9 ;; x
y=x.reshape_view(4) ;; y[0]=9 ;; x
y=x.T ;; y[0]=9 ;; x
y=np.expand_dims(x,0) ;; y[0]=9 ;; x
y=x.squeeze() ;; y[0]=9 ;; x
y=x.detach() ;; y[0]=9 ;; x
y=n.as_np_ndarray() ;; y[0]=9 ;; n
x.as_np_ndarray() is x
x[0,0]
x[()]
x[0,0].item()
x.item(2)
x[x>1]
x[b]
x[i]
x[:,i]
x[i,i]
x[None]
x[...,None]
x[0,...]
x[1.5]
x[[0,1]]
x[2]
x[5:7]
x[True]
x[b,0]
x[:,b]
x[b,b]
x[u]
x[h]
x[-3]
x[::-1]
x[::0]
z[()]
z[0]
z[True]
z[:]
x[x>1]=0 ;; x
x[0]=i ;; x
x[0]=[7,8] ;; x
x[:]=3 ;; x
x[i,0]=5 ;; x
x[b]=v[:2] ;; x
x[:,1]=x[0,0] ;; x
x[0]=v ;; x
z[()]=7 ;; z
bool(x)
bool(np.array([]))
bool(z)
bool(np.array([1.]))
float(z)
float(np.array([2.]))
float(x)
int(z)
len(x)
len(z)
list(x)
repr(x)
str(x)
repr(z)
repr(i)
repr(b)
repr(d)
repr(h)
repr(np.zeros((0,3)))
repr(np.arange(2000))
'%s'%z
format(z,'.2f')
format(x,'')
import math ;; math.floor(z)
x.context
x.T
x.grad
x.attach_grad() ;; x.grad
x.attach_grad() ;; autograd.set_recording(True) ;; y=(x*x).sum() ;; autograd.set_recording(False) ;; y.backward() ;; x.grad
x.attach_grad() ;; autograd.set_recording(True) ;; y=x*x ;; autograd.set_recording(False) ;; y.backward(x) ;; x.grad
np.exp(n)
np.exp([1,2])
np.exp(2)
np.exp(i)
np.exp(b)
np.exp(x,where=i)
np.exp(x,where=True)
np.exp(x,dtype='float64')
np.exp(x,casting='no')
np.exp(x,order='K')
np.exp(x,foo=1)
np.exp(x,out=x)
np.exp(x,out=d)
np.exp(x,x) is x
np.add(1,2)
np.add(x,i)
np.maximum(i,x)
np.maximum(i,2.5)
np.sqrt(i)
np.square(i)
np.array(3)
np.array([1,2])
np.array([1.5,2])
np.array([True,False])
np.array([[1,2],[3]])
np.array(x) is x
np.array(n)
np.array([x,x])
np.array([x[0,0],2])
np.array(x,dtype='int32')
np.array('a')
np.array(None)
np.array(i)
np.array(b)
np.array((1,2),dtype=int)
np.array((1,2),dtype=float)
np.array((1,2),dtype='int16')
np.array((1,2),dtype=bool)
np.array((1,2),ctx=mx.cpu(0))
np.array(1,2,3,4)
repr(j)
repr(u)
repr(np.array([True,False],dtype=bool))
repr(np.zeros((0,3),dtype='float64'))
repr(np.arange(30)*1.11111)
repr(np.arange(30,dtype='float64')*1.11111)
repr(np.arange(30,dtype='int64'))
repr(np.zeros((20,),dtype='int32')+1000000)
repr(np.zeros((20,),dtype='float64')+1.0101010101)
repr(np.zeros((0,),dtype='int64'))
B=x>1 ;; x[B]
B=x>1 ;; ~B
B=x>1 ;; B&B
B=x>1 ;; B|True
B=x>1 ;; B^B
B=x>1 ;; B+B
B=x>1 ;; B+1
B=x>1 ;; B*2.5
B=x>1 ;; B/2
B=x>1 ;; B-1
B=x>1 ;; -B
B=x>1 ;; np.average(B)
B=x>1 ;; np.average(B,weights=x)
B=x>1 ;; np.average(x,weights=B)
np.around(x,40)
np.around(x,-50)
np.around(d,7)
np.around(h,2)
np.tensordot(z,z)
np.tensordot(z,x)
np.tensordot(v,z,1)
np.reshape(x,(4,),order='F')
np.ravel(x,order='F')
np.arange(0,1,0.1)
np.arange(1,3,0.3)
np.arange(1,3,0.3,dtype='float64')
x[0,None,1:]
x[...,1:,0]
x[None,...,i]
x[::-1,1]
x[-1:,-1]
x[i,1:]
x[b[:1],0]
x[:,::2]
x[1:1]
x[...,-2:]=7 ;; x
x[None,1]=v[:2] ;; x
x[i,::-1]=x ;; x
x[:,1:]=v[0] ;; x
x[1,0]=True ;; x
x[-1]=2**60 ;; x
x[0:2]=x+1 ;; x
x[...]=v[:2] ;; x
x[2,0]=1
x[:,i,0]=1
B=x>1 ;; B.sum()
B=x>1 ;; B.mean()
B=x>1 ;; B.astype('float32')
B=x>1 ;; B==True
B=x>1 ;; B*x
B=x>1 ;; B*i
B=x>1 ;; x[B]=v ;; x
B=x>1 ;; x[B]=v[0] ;; x
B=x>1 ;; x[:,B[0]]
B=x>1 ;; x[B[:,0],0]
x[B==0]
x[np.array([True,False],dtype=bool)]
x[[True,False]]
x[np.array([], dtype='int64')]
x[[]]
x[(0,1),(1,0)]
x[:,None,i]
x.astype('float64')
x.astype(int)
x.astype(bool)
x.astype('float32',copy=False) is x
x.astype('float32') is x
x.astype('int32',order='C')
x.astype('int32',order='F')
x.copy()
x.copy(order='F')
x.copyto(np.zeros((2,2)))
x.copyto(d)
x.copyto(mx.cpu(0))
x.as_in_ctx(mx.cpu(0)) is x
x.sum()
x.sum(axis=0)
x.sum(axis=(0,1),keepdims=True)
x.sum(0,'float64')
x.sum(-1)
x.mean(axis=1)
i.mean()
i.sum()
u.sum()
h.sum()
i.prod()
x.max()
x.max(axis=1,keepdims=True)
x.min(0)
x.std()
x.var(axis=0,ddof=1)
i.std()
x.argmax()
x.argmax(1)
x.argmin(axis=0)
x.argsort()
x.argsort(axis=0)
x.argsort(axis=None)
x.argsort(kind='mergesort')
x.argsort(order='a')
x.sort() ;; x
y=-x ;; y.sort() ;; y
y=-x ;; y.sort(axis=0)
np.sort(-x)
np.sort(-x,axis=None)
np.sort(-x,kind='quicksort')
x.all()
x.any(axis=0)
x.clip(1.5,3)
x.clip(min=2)
x.clip(max=2)
x.cumsum()
x.cumsum(axis=1)
x.diag()
x.dot(x)
x.flatten()
x.nonzero()
x.repeat(2)
x.repeat(2,axis=0)
x.reshape(4,1)
x.reshape((4,1))
x.reshape(-1)
x.reshape((4,),order='F')
x.reshape(4,order='C')
x.reshape(3)
x.reshape(-2)
x.reshape(0,-1)
x.reshape()
x.reshape(shape=(4,))
x.round(1)
x.squeeze()
x.squeeze(0)
x.swapaxes(0,1)
x.take(i)
x.take(i,axis=1)
x.take([1,0])
x.take(np.array([3.,9.]))
x.take(np.array([3.,9.]),mode='clip')
x.take(np.array([3.,9.]),mode='wrap')
x.tile(2)
x.tolist()
x.transpose()
x.transpose(1,0)
x.transpose((1,0))
x.transpose([1,0])
x.broadcast_to((2,2,2))
x.broadcast_like(x)
x.expand_dims(0)
x.abs()
x.norm()
x.asscalar()
z.asscalar()
z.item()
x.item()
x.item(0,1)
x.item((0,1))
x.item(9)
x.wait_to_read()
x.tostype('default')
n.as_np_ndarray()
x.asnumpy()
x.split(2)
x.attach_grad('add') ;; x.grad
x.attach_grad('foo') ;; x.grad
x.size_array()
x.zeros_like()
x.slice_assign_scalar(1,(0,),(1,),(1,))
x.stype
x.writable
import pickle ;; pickle.loads(pickle.dumps(x))
import copy ;; copy.deepcopy(x)
import copy ;; copy.copy(x)
x==None
x!=None
x=='a'
x in [1]
2 in x
x<[1,2]
x is x
x.grad_req
x.foo
m=np.array([[4.,1.],[1.,3.]]) ;; np.linalg.cholesky(m)
m=np.array([[4.,1.],[1.,3.]]) ;; np.linalg.det(m)
m=np.array([[4.,1.],[1.,3.]]) ;; np.linalg.inv(m)
m=np.array([[4.,1.],[1.,3.]]) ;; np.linalg.slogdet(m)
m=np.array([[4.,1.],[1.,3.]]) ;; np.linalg.solve(m,m)
m=np.array([[4.,1.],[1.,3.]]) ;; np.linalg.solve(m,m[0])
m=np.array([[4.,1.],[1.,3.]]) ;; np.linalg.pinv(m)
m=np.array([[4.,1.],[1.,3.]]) ;; np.linalg.pinv(m,rcond=np.array(0.1))
m=np.array([[4.,1.],[1.,3.]]) ;; np.linalg.pinv(m,hermitian=True)
np.linalg.tensorinv(np.eye(24).reshape(4,6,8,3))
np.linalg.tensorinv(np.eye(24).reshape(24,8,3),ind=1)
np.linalg.tensorsolve(np.eye(6).reshape(2,3,6),np.ones((2,3)))
np.linalg.tensorsolve(np.eye(6).reshape(2,6,3),np.ones((2,3)),axes=(1,))
np.linalg.norm(x)
np.linalg.norm(v)
np.linalg.norm(x,axis=1)
np.linalg.norm(x,axis=(0,1))
np.linalg.norm(x,keepdims=True)
np.linalg.norm(v,1)
np.linalg.norm(v,2)
np.linalg.norm(v,3)
np.linalg.norm(v,0)
np.linalg.norm(v,np.inf)
np.linalg.norm(v,-np.inf)
np.linalg.norm(v,-1)
np.linalg.norm(x,1)
np.linalg.norm(x,-1)
np.linalg.norm(x,2)
np.linalg.norm(x,-2)
np.linalg.norm(x,'fro')
np.linalg.norm(x,'nuc')
np.linalg.norm(x,np.inf)
np.linalg.norm(x,-np.inf)
np.linalg.norm(x,1,axis=1)
np.linalg.norm(x,2,axis=0,keepdims=True)
np.linalg.norm(x,ord=2,axis=(1,0))
np.linalg.norm(x,ord='nuc',keepdims=True)
np.linalg.norm(x,ord=1,axis=(1,0))
np.linalg.norm(v,'fro')
np.linalg.norm(np.ones((2,2,2)))
np.linalg.norm(np.ones((2,2,2)),'fro',axis=(0,1))
np.linalg.norm(i)
np.linalg.norm(z)
npx.activation(x,act_type='relu')
npx.activation(x,'tanh')
npx.arange_like(x)
npx.arange_like(x,axis=0)
npx.batch_dot(x.reshape(1,2,2),x.reshape(1,2,2))
npx.batch_flatten(np.ones((2,3,4)))
npx.cast(x,dtype='int32')
npx.constraint_check(x>0,'bad')
npx.constraint_check(x>2,'bad')
npx.embedding(i,x,input_dim=2,output_dim=2)
npx.erf(x)
npx.erfinv(x/10)
npx.fully_connected(x,x,v[:2],num_hidden=2)
npx.fully_connected(x,x,num_hidden=2,no_bias=True)
npx.gamma(x)
npx.gammaln(x)
npx.gather_nd(x,np.array([[0,1],[1,0]]))
npx.layer_norm(x,np.ones(2),np.zeros(2))
npx.leaky_relu(-x,act_type='leaky',slope=0.1)
npx.log_softmax(x)
npx.log_softmax(x,axis=0)
npx.nonzero(x)
npx.one_hot(i,3)
npx.one_hot(i,depth=3,dtype='int32')
npx.pick(x,i)
npx.pick(x,i,axis=0)
npx.pooling(np.ones((1,1,4,4)),kernel=(2,2),stride=(2,2))
npx.relu(-x)
npx.reshape(x,(-1,))
npx.reshape(np.ones((2,3,4)),(-2,-5))
npx.reshape(np.ones((2,3,4)),(-5,-1))
npx.reshape(np.ones((2,3,4)),(-4,))
npx.reshape(x,(-1,),reverse=True)
npx.reshape(x,(-1,),order='F')
npx.reshape_like(x,np.ones(4))
npx.sequence_mask(x,v[:2],use_sequence_length=True)
npx.shape_array(x)
npx.sigmoid(x)
npx.slice(x,begin=(0,),end=(1,))
npx.smooth_l1(x,scalar=1.0)
npx.softmax(x,axis=0)
npx.softmax(x,i+1,use_length=True,axis=1)
npx.topk(x)
npx.topk(x,k=1,ret_typ='both')
npx.topk(x,k=2,ret_typ='value',axis=0)
npx.waitall()
npx.relu(n)
npx.relu(2)
npx.num_gpus()
npx.convolution(np.ones((1,1,3,3)),np.ones((1,1,2,2)),np.ones(1),kernel=(2,2),num_filter=1)
npx.image.to_tensor(np.ones((2,2,3),dtype='uint8'))
npx.image.resize(np.ones((2,2,3),dtype='uint8'),4).shape
npx.image.flip_left_right(np.ones((2,2,3)))
npx.image.normalize(np.ones((3,2,2)),mean=0.5,std=2)
npx.multibox_prior(np.ones((1,1,2,2)),sizes=[.5],ratios=[1.])
npx.is_np_shape(),npx.is_np_array()
npx.reset_np() ;; npx.is_np_shape(),npx.is_np_array()
npx.set_np(shape=False)
npx.set_np(array=False) ;; npx.is_np_shape(),npx.is_np_array()
f=mx.util.use_np(lambda: (npx.is_np_shape(),npx.is_np_array())) ;; npx.reset_np() ;; (f(),npx.is_np_array())
mx.is_np_array(),mx.is_np_shape()
mx.nd.array([1,2])
mx.nd.ones((2,))
np.resize(x,(3,2))
np.resize(x,3)
np.resize(v,(2,2))
np.ndim(x),np.size(x),np.size(x,0),np.real(x),np.shape(x)
np.pi,np.inf,np.newaxis,np.e
np.bool is bool
np.ndarray is type(x)
mx.np is np, mx.npx is npx
x.attach_grad() ;; autograd.set_recording(True) ;; y=x ;; x[0]=0 ;; y=y*x ;; autograd.set_recording(False) ;; y.backward() ;; [y,x.grad]
x.attach_grad() ;; autograd.set_recording(True) ;; y=x ;; x+=x ;; y=y*x ;; autograd.set_recording(False) ;; y.backward() ;; [y,x.grad]
x.attach_grad() ;; autograd.set_recording(True) ;; y=x ;; y=x*x ;; y[0]=7 ;; y=y*x ;; autograd.set_recording(False) ;; y.backward() ;; [y,x.grad]
x.attach_grad() ;; autograd.set_recording(True) ;; y=x ;; y=x*2  ;; y[i]=x ;; y=y*x ;; autograd.set_recording(False) ;; y.backward() ;; [y,x.grad]
x.attach_grad() ;; autograd.set_recording(True) ;; y=x ;; y=x*2  ;; y[x>1]=0 ;; y=y*x ;; autograd.set_recording(False) ;; y.backward() ;; [y,x.grad]
x.attach_grad() ;; autograd.set_recording(True) ;; y=x ;; y=x*2  ;; y+=x ;; y=y*x ;; autograd.set_recording(False) ;; y.backward() ;; [y,x.grad]
x.attach_grad() ;; autograd.set_recording(True) ;; y=x ;; y=x*2  ;; y*=x ;; y=y*x ;; autograd.set_recording(False) ;; y.backward() ;; [y,x.grad]
x.attach_grad('add') ;; autograd.set_recording(True) ;; y=x*x ;; y.backward() ;; y=x*x ;; y.backward() ;; x.grad
x.attach_grad() ;; g=x.grad ;; autograd.set_recording(True) ;; y=x*x ;; y.backward() ;; g
x.attach_grad() ;; autograd.set_recording(True) ;; y=np.exp(x,out=np.zeros((2,2))) ;; y.backward() ;; x.grad
x.attach_grad() ;; autograd.set_recording(True) ;; y=np.exp(x) ;; y.backward(np.ones((2,2))*2) ;; x.grad
x.attach_grad() ;; autograd.set_recording(True) ;; y=np.exp(x) ;; autograd.backward([y],[np.ones((2,2))*2]) ;; x.grad
autograd.mark_variables([x],[np.zeros((2,2))]) ;; autograd.set_recording(True) ;; y=np.exp(x) ;; y.backward() ;; x.grad
x.attach_grad() ;; autograd.set_recording(True) ;; y=(x*x).detach() ;; z=y*x ;; z.backward() ;; x.grad
z.attach_grad() ;; autograd.set_recording(True) ;; y=z*z ;; y.backward() ;; z.grad
z.attach_grad() ;; autograd.set_recording(True) ;; y=x*z ;; y.backward() ;; z.grad
x.attach_grad() ;; autograd.set_recording(True) ;; y=x[0,0]*x[1,1] ;; y.backward() ;; x.grad
""".strip().splitlines()  # noqa: E501

#: Of functions that 1.9.1 leaves to the installed NumPy.
LEFT = """
np.allclose(x,x)
np.allclose(x,x+1)
np.isclose(x,x+1e-9)
np.isclose(i,i)
np.isclose(x,n2)
np.alltrue(x)
np.alltrue(x,axis=0)
np.apply_along_axis(lambda a:a.sum(),0,x)
np.apply_along_axis(lambda a:a*2,1,x)
np.apply_along_axis(lambda a:a.reshape(1,-1),0,m)
np.apply_over_axes(onp.sum,m,[0,2])
np.argpartition(v,1)
np.partition(-v,1)
np.partition(x,0,axis=0)
np.argwhere(x)
np.array_equal(x,x)
np.array_equal(x,v)
np.array_equiv(x,x[0])
np.choose(i,[v[:2],v[1:]])
np.choose(i,x)
np.choose(i+5,x,mode='wrap')
np.choose(i+5,x)
np.compress(i,x)
np.compress(i,x,axis=0)
np.compress([True,False],x,axis=1)
np.corrcoef(x)
np.corrcoef(x,x)
np.corrcoef(v,v)
np.correlate(v,v)
np.correlate(v,v,'same')
np.correlate(v,v,'full')
np.correlate(v,w,'same')
np.correlate(w,v,'same')
np.correlate(v,w,'full')
np.correlate(w,v,'full')
np.correlate(v,w,'valid')
np.correlate(w,v,'valid')
np.correlate(i,i,'full')
np.count_nonzero(x)
np.count_nonzero(x,axis=0)
np.count_nonzero(x,keepdims=True)
np.cov(x)
np.cov(x,bias=True)
np.cov(x,rowvar=False)
np.cov(v)
np.cov(v,w[:3])
np.cov(x,x,ddof=0)
np.cov(m[0],fweights=i[[0,0,0,1]]+1)
np.cov(m[0],aweights=w[:4])
np.cov(m[0],fweights=i[[0,0,0,1]]+1,aweights=w[:4])
np.cov(m[0],dtype='float32')
np.cov(i)
np.digitize(v,v)
np.digitize(v,v,right=True)
np.digitize(x,[1,2])
np.divmod(x,2)
np.divmod(x,x[0])
np.divmod(7,2)
np.divmod(i,2)
np.divmod(2,x)
np.extract(x>1,x)
np.extract([True,False,True,False],x)
np.flatnonzero(x>1)
np.float_power(x,2)
np.float_power(i,i)
np.frexp(x)
np.heaviside(x-2,0.5)
np.heaviside(x-2,x)
np.histogram2d(v,v,bins=2)
np.histogram_bin_edges(v,bins=3)
np.histogramdd(x,bins=2)
np.i0(v)
np.in1d(v,[1,2])
np.in1d(x,v)
np.in1d(x,v,invert=True)
np.interp(v,v,v*2)
np.interp(2.5,v,v*2)
np.interp(x,v,v*2)
np.interp(x,v,v*2,left=0,right=9)
np.interp(x,v,v*2,period=2.5)
np.interp(v+.3,[1,2,3],[3,5,4])
np.intersect1d(v,x)
np.intersect1d(v,x,return_indices=True)
np.isin(x,v)
np.isin(x,[1,2],invert=True)
np.isin(i,j)
np.ix_(v,v)
np.ix_(b,v)
np.ix_(x[0]>1,v)
np.lexsort((v,-v))
np.lexsort(x)
np.modf(x)
np.modf(-x)
np.msort(-x)
np.nanargmax(y)
np.nanargmax(y,axis=0)
np.nanargmin(y,axis=1)
np.nancumprod(y)
np.nancumprod(y,axis=0)
np.nancumsum(y)
np.nancumsum(y,axis=1)
np.nanmax(y)
np.nanmax(y,axis=0)
np.nanmax(y,axis=1,keepdims=True)
np.nanmin(y)
np.nanmin(y,axis=0)
np.nanmedian(y)
np.nanmedian(y,axis=0)
np.nanmedian(y,axis=1,keepdims=True)
np.nanpercentile(y,30)
np.nanpercentile(y,[30,60],axis=0)
np.nanpercentile(y,30,axis=1,keepdims=True)
np.nanpercentile(m,[30,60],axis=(0,2))
np.nanquantile(y,0.3)
np.nanquantile(y,0.3,axis=0,interpolation='lower')
np.nanquantile(y,0.3,axis=0,interpolation='nearest')
np.nanquantile(y,0.3,axis=0,interpolation='midpoint')
np.nanprod(y)
np.nanprod(y,axis=0)
np.nanprod(i)
np.ndim(x)
np.packbits(k)
np.unpackbits(u)
np.unpackbits(u,count=4)
np.partition(v,[0,1])
np.piecewise(x,[x<2,x>=2],[-1,1])
np.piecewise(x,[x<2,x>=2],[lambda t:-t,lambda t:t*t])
np.piecewise(x,[x>3],[5])
np.piecewise(x,x>3,[5,lambda t:t])
np.piecewise(v,[v>2,v<1.5],[lambda t:t,0,lambda t:t+9])
np.poly(v)
np.poly(s)
np.poly([1,2])
np.polyadd(v,v)
np.polyadd(v,w)
np.polyadd(v,[1,2])
np.polydiv(w,v)
np.polydiv(v,w)
np.polydiv(v,v[1:])
np.polyfit(v,v*v,1)
np.polyfit(v,v*v,2)
np.polyfit(w,w*w*w,2)
np.polyfit(w,w*w*w,2,w=w)
np.polyfit(w,np.stack([w,w*w],axis=1),1)
np.polyfit(w,w*w*w,1,cov=True)
np.polyfit(w,w*w*w,1,full=True)
np.polyint(v)
np.polyint(v,2)
np.polyint(v,m=2,k=[1,2])
np.polymul(v,v)
np.polymul(v,w)
np.polysub(v,v)
np.polysub(w,v)
np.positive(x)
np.positive(i)
np.ptp(x)
np.ptp(x,axis=0)
np.ptp(x,axis=1,keepdims=True)
np.ptp(i)
np.rollaxis(m,2)
np.rollaxis(m,0,3)
np.rollaxis(m,1,0)
np.roots(v)
np.roots([1,-3,2])
np.searchsorted(v,2)
np.searchsorted(v,2,side='right')
np.searchsorted(v,[0,2.5])
np.searchsorted(v,x)
np.searchsorted(-v,-x,sorter=np.array([2,1,0],dtype='int64'))
np.select([x<2,x>3],[x,x*x])
np.select([x<2,x>3],[x,x*x],default=7)
np.select([v<2,v>2],[v,v*v],-1.5)
np.select([v<2],[5])
np.setdiff1d(x,v)
np.setdiff1d(x,v,assume_unique=True)
np.setxor1d(x,v)
np.union1d(x,v)
np.union1d(i,v)
np.signbit(-x)
np.spacing(x)
np.take_along_axis(x,np.array([[0],[1]],dtype='int64'),axis=1)
np.take_along_axis(x,i[:,None],axis=0)
np.take_along_axis(x,np.array([0,3],dtype='int64'),axis=None)
np.trapz(v)
np.trapz(v,v*v)
np.trapz(v,dx=2)
np.trapz(x,axis=0)
np.trapz(x,x=x[0])
np.trapz(i)
np.tril_indices_from(x)
np.tril_indices_from(x,1)
np.triu_indices_from(x,k=1)
np.trim_zeros(np.array([0,0,1,2,0]))
np.trim_zeros(np.array([0,0,1,2,0]),'f')
np.unwrap(v*3)
np.unwrap(v*3,axis=0)
np.vander(v)
np.vander(v,2)
np.vander(v,increasing=True)
np.vander(i)
np.genfromtxt(['1,2','3,4'],delimiter=',')
np.linalg.cond(s)
np.linalg.cond(s,1)
np.linalg.cond(s,'fro')
np.linalg.cond(s,-2)
np.linalg.cond(m)
np.linalg.lstsq(m[0].T,w[:4],rcond=None)[0]
np.linalg.lstsq(m[0].T,w[:4],rcond=None)
np.linalg.lstsq(m[0],w[:3],rcond=None)
np.linalg.lstsq(s,s,rcond=None)
np.linalg.matrix_power(s,3)
np.linalg.matrix_power(s,0)
np.linalg.matrix_power(s,-2)
np.linalg.matrix_power(i.reshape(1,2).T@i.reshape(1,2),2)
np.linalg.matrix_rank(s)
np.linalg.matrix_rank(x-x)
np.linalg.matrix_rank(m)
np.linalg.matrix_rank(v)
np.linalg.multi_dot([x,x,x])
np.linalg.multi_dot([v,m[0],w[:4]])
np.linalg.multi_dot([x,v[:2]])
np.linalg.qr(x)
np.linalg.qr(m[0])
np.linalg.qr(m[0].T)
np.linalg.qr(x,mode='r')
np.cov([[1,2],[3,4]])
np.in1d([1,2],[2])
np.isclose(1.,2.)
np.trapz([1,2,3])
np.npv(0.1,v)
""".strip().splitlines()

#: Of NumPy's own functions of arrays, and of both kinds of arrays together.
PROTOCOLS = """
onp.sin(x)
onp.add(x,x)
onp.add(x,2)
onp.add(2,x)
onp.add(n2,x)
onp.add(x,n2)
onp.add(x,n2.astype('float32'))
n2+x
x+n2
n2.astype('float32')*x
x*n2.astype('float32')
n2-z
z-n2
onp.float32(2)*x
x*onp.float32(2)
onp.float64(2)*x
onp.float64(2)-x
onp.int64(2)*i
x*onp.array(2.)
n2@x
x@n2
n2==x
x==n2
n2<x
n2+[1,2]
onp.sin(x,out=x)
onp.sin(x,out=n2)
onp.sin(n2,out=x)
onp.add.reduce(x)
onp.add.outer(v,v)
onp.add.accumulate(v)
onp.add.at(x,0,1)
onp.multiply.reduce(x)
onp.sin(x,where=True)
onp.sin(x,dtype='float64')
onp.modf(x)
onp.frexp(x)
onp.heaviside(x,x)
onp.spacing(x)
onp.signbit(x)
onp.logaddexp(x,x)
onp.floor_divide(x,2)
onp.gcd(i,i)
onp.left_shift(i,i)
onp.concatenate([x,x])
onp.concatenate([x,n2])
onp.concatenate([n2,x])
onp.concatenate([x,x],out=x)
onp.stack([x,x])
onp.linalg.norm(x)
onp.linalg.svd(x)
onp.linalg.cond(x)
onp.linalg.eigvals(x)
onp.linalg.qr(x)
onp.mean(x)
onp.sum(x)
onp.sum(x,axis=0,initial=3)
onp.sum(x,where=x>1)
onp.var(x)
onp.std(x)
onp.cov(x)
onp.interp(v,v,v)
onp.where(x>1,x,0)
onp.where(x>1)
onp.median(x)
onp.nanmean(x)
onp.kron(x,x)
onp.fft.fft(x)
onp.gradient(v)
onp.cross(v,v)
onp.cumprod(v)
onp.ones_like(x)
onp.zeros_like(x)
onp.full_like(x,3)
onp.shape(x)
onp.ndim(x)
onp.size(x)
onp.asarray(x,dtype='float64')
onp.array_equal(x,x)
onp.allclose(x,x)
onp.einsum('ij,jk',x,x)
onp.dot(x,x)
onp.dot(n2,x)
onp.matmul(x,x)
onp.split(x,2)
onp.unique(x)
onp.sort(x)
onp.argsort(x)
onp.argmax(x)
onp.take(x,i)
onp.clip(x,1,2)
onp.copy(x)
onp.copyto(x,n2)
onp.may_share_memory(x,x)
onp.meshgrid(v,v)
onp.array_split(v,2)
onp.tile(x,2)
onp.pad(x,1)
onp.atleast_1d(z)
onp.exp(z)
onp.polyfit(v,v,1)
onp.apply_along_axis(lambda a:a.sum(),0,x)
onp.max(x)
onp.amax(x,axis=0)
onp.ptp(x)
onp.round(x)
onp.nan_to_num(x)
onp.can_cast(x,'float64')
onp.histogram(x)
onp.bincount(i)
onp.broadcast_arrays(x,v[:2])
onp.ix_(v,v)
onp.iscomplexobj(x)
onp.real(x)
onp.fill_diagonal(x,0)
onp.put(x,0,1)
onp.place(x,x>1,1)
onp.putmask(x,x>1,1)
onp.lexsort((v,v))
onp.tensordot(x,x)
onp.trace(x)
onp.tril(x)
onp.triu(x)
onp.resize(x,(3,))
onp.roll(x,1)
onp.vander(v)
onp.nonzero(x)
onp.transpose(x)
x+None
complex(z)
float(np.array([1.]))
round(z)
divmod(x,2)
x//2
2//x
pow(2,x)
2**x
2@x
1<x
x in [x]
onp.allclose(x,n2)
onp.minimum(x,n2)
onp.power(2,x)
onp.isnan(x)
onp.exp([x,x])
onp.maximum.reduce(x)
onp.logical_and(x,x)
onp.logical_not(x)
onp.invert(i)
onp.matmul(n2,x)
autograd.set_recording(True) ;; onp.sin(x)
autograd.set_recording(True) ;; onp.add(n2,x)
autograd.set_recording(True) ;; n2+x
autograd.set_recording(True) ;; x+n2
autograd.set_recording(True) ;; onp.cov(x)
autograd.set_recording(True) ;; np.cov(x)
autograd.set_recording(True) ;; onp.concatenate([x,n2])
autograd.set_recording(True) ;; onp.fft.fft(x)
autograd.set_recording(True) ;; onp.median(x)
autograd.set_recording(True) ;; onp.logaddexp(x,x)
autograd.set_recording(True) ;; onp.where(x>1,x,0)
autograd.set_recording(True) ;; onp.ones_like(x)
autograd.set_recording(True) ;; onp.allclose(x,x)
""".strip().splitlines()


def programs(group: str = "") -> list[str]:
    """All of them, or those of a group: "left", "programs", "protocols"."""
    if group:
        return {"left": LEFT, "programs": PROGRAMS, "protocols": PROTOCOLS}[group]
    calls = [f"np.{name}({arguments})" for name in FUNCTIONS for arguments in ARGUMENTS]
    recorded = "x.attach_grad() ;; autograd.set_recording(True) ;; y = {} ;; autograd.set_recording(False) ;; "
    gradients = [recorded.format(each) + "y.backward() ;; [y, x.grad]" for each in DIFFERENTIATED]
    return [*calls, *gradients, *PROGRAMS, *LEFT, *PROTOCOLS]


def names(mx: Any) -> dict[str, Any]:
    """What programs find, new for each."""
    np = mx.np
    return {
        "mx": mx,
        "np": np,
        "npx": mx.npx,
        "onp": numpy,
        "autograd": mx.autograd,
        "x": np.array([[1.0, 2.0], [3.0, 4.5]]),
        "i": np.array([1, 0], dtype="int32"),
        "j": np.array([1, 0], dtype="int64"),
        "u": np.array([1, 0], dtype="uint8"),
        "v": np.array([1.0, 2.0, 3.0]),
        "b": np.array([True, False]),
        "d": np.array([1.0, 2.0], dtype="float64"),
        "h": np.array([1.0, 2.0], dtype="float16"),
        "z": np.array(3.5),
        "n": mx.nd.array([[1, 2], [3, 4]]),
        "k": np.array([1, 0, 1], dtype="uint8"),
        "m": np.array(numpy.arange(24).reshape(2, 3, 4) ** 1.5 % 7, dtype="float64"),
        "w": np.array([1.0, 3.0, 2.0, 5.0, 4.0]),
        "s": np.array([[4.0, 1.0], [1.0, 3.0]]),
        "y": np.array([[1.0, numpy.nan, 3.0], [2.0, 5.0, numpy.nan]]),
        "n2": numpy.array([[1.0, 2.0], [3.0, 4.0]]),
    }


def run(program: str, mx: Any) -> Any:
    """The answer of a program. Raises: what it raises."""
    *statements, expression = program.split(" ;; ")
    found = names(mx)
    mx.npx.set_np()
    try:
        for statement in statements:
            exec(statement, found)
        return describe(eval(expression, found), mx)
    finally:
        mx.autograd.set_recording(False)


def describe(value: Any, mx: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [describe(each, mx) for each in value]]
    if isinstance(value, mx.nd.NDArray):
        elements = [_number(each) for each in value.asnumpy().ravel().tolist()]
        return [type(value).__name__, numpy.dtype(value.dtype).name, list(value.shape), elements]
    if isinstance(value, (numpy.generic, float, int)):
        return ["number", _number(value.item() if isinstance(value, numpy.generic) else value)]
    return [type(value).__name__, str(value)]


def _number(value: Any) -> Any:
    return value if math.isfinite(value) else str(value)
