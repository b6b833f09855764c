# Makes matern.json beside it: the bound for the Matern kernels in the format of bound.json, in float64 with 128 nodes,
# gradients by complex steps. It first compares itself with bound.json and prints the worst difference.
import pathlib
import json, numpy as np
here = pathlib.Path(__file__).parent
rng=np.random.default_rng(7)
nodes,wts=np.polynomial.hermite_e.hermegauss(128); wts=wts/np.sqrt(2*np.pi)
def kern(name,prod,xx,zz,a,v,l):
    d2=xx[:,None]+zz[None,:]-2*prod
    d2=np.where(np.abs(d2)<1e-15,0,d2)
    out=0
    if 'linear' in name: out=out+a*prod
    fam=name.split('+')[-1]
    if fam=='se': out=out+v*np.exp(-d2/(2*l*l))
    elif fam=='matern32':
        u=np.sqrt(3*d2+0j)/l; out=out+v*(1+u)*np.exp(-u)
    elif fam=='matern52':
        u=np.sqrt(5*d2+0j)/l; out=out+v*(1+u+u*u/3)*np.exp(-u)
    return out
def softplus(x): # log(1+exp(x)) complex-safe
    return np.where(x.real>30, x, np.log(1+np.exp(np.where(x.real>30,0,x))))
def bound(case,th,full=False):
    X=np.array(case['X']); name=case['kernel']; N=case['N']; B=len(X)
    a=th.get('linearVariance',1.0); v=th.get('seVariance',1.0); l=th.get('lengthscale',1.0)
    Z=th['A']@np.array(case['basis']) if 'A' in th else th['Z']
    zz=np.sum(Z*Z,1); xx=np.sum(X*X,1)
    # Kz: diagonal has distance zero exactly
    Lz=Z@Z.T
    Kz=kern(name,Lz,zz,zz,a,v,l)
    own=(a if 'linear' in name else 0)*zz+(v if name!='linear' else 0)
    Kz=Kz.astype(complex); np.fill_diagonal(Kz,own)
    Kx=kern(name,X@Z.T,xx.astype(complex),zz,a,v,l)
    kxx=(a if 'linear' in name else 0)*xx+(v if name!='linear' else 0)
    mu=th['mu']; sig=th['sigma']; Phi=th['Phi']; b=th['b']; P=mu.shape[1]; M=len(Kz); K=len(b)
    m=Kx@mu
    s=np.zeros((B,P),complex); kl=np.zeros(P,complex)
    for p in range(P):
        sg=sig[:,p if sig.shape[1]>1 else 0]
        C=Kz+np.diag(sg); Ci=np.linalg.inv(C)
        s[:,p]=kxx-np.einsum('ij,jk,ik->i',Kx,Ci,Kx)
        # log det through LU, complex-safe
        lu=np.linalg.slogdet(C.real)[1]
        # complex step: logdet(C) = logdet(real) + i tr(Cr^-1 Im C)
        ld=lu+1j*np.trace(np.linalg.solve(C.real,C.imag))
        kl[p]=0.5*mu[:,p]@Kz@mu[:,p]-0.5*(M-np.sum(sg*np.diag(Ci)))+0.5*ld-0.5*np.sum(np.log(sg))
    fbar=m@Phi.T+b; var=s@(Phi*Phi).T
    pos=[set(x) for x in case['labels']]; neg=case['sampledNegatives']
    y=np.array([[1 if k in pos[i] else -1 for k in range(K)] for i in range(B)])
    sd=np.sqrt(var)
    f=fbar[:,:,None]+sd[:,:,None]*nodes
    ell=np.sum(wts*softplus(-y[:,:,None]*f),2)
    w=np.zeros((B,K))
    for i in range(B):
        for k in range(K):
            if k in pos[i]: w[i,k]=1
            elif neg is None: w[i,k]=1
            elif k in neg[i]: w[i,k]=(K-len(pos[i]))/len(neg[i])
    data=-(N/B)*np.sum(w*ell)
    val=data-np.sum(kl)
    if not full: return val
    prob=np.sum(wts/(1+np.exp(-f)),2)
    R=lambda x: np.real(x).tolist()
    return dict(Kz=R(Kz),Kx=R(Kx),kxx=R(np.asarray(kxx)),latentMean=R(m),latentVariance=R(s),utilityMean=R(fbar),utilityVariance=R(var),expectedNegLogLik=R(ell),probability=R(prob),dataTerm=float(np.real(data)),kl=R(kl),bound=float(np.real(val)))
cases=[]
B,D,R_,M,P,K=5,6,4,3,2,5
r=lambda *s:np.round(rng.uniform(-1,1,s),3)
for i,name in enumerate(['matern32','matern52','linear+matern32','linear+matern52']):
  for inducing in ['subspace','free']:
    posterior=['perFactor','shared'][(i+(inducing=='free'))%2]
    sampled=(i==3)
    c=dict(name=f"{name}-{inducing}-{posterior}"+('-sampled' if sampled else ''),kernel=name,inducing=inducing,posterior=posterior,N=30,X=r(B,D).tolist(),basis=(r(R_,D)*.6).round(3).tolist() if inducing=='subspace' else None,
      labels=[[0],[1,3],[],[2,4],[0,1,2]],sampledNegatives=[[1,2],[0],[0,3],[0,1],[3]] if sampled else None)
    th={}
    if inducing=='subspace': th['A']=r(M,R_)
    else: th['Z']=r(M,D)
    th['mu']=r(M,P); th['sigma']=np.round(rng.uniform(.3,1.5,(M,1 if posterior=='shared' else P)),3); th['Phi']=r(K,P); th['b']=np.round(rng.uniform(-2,.5,K),3)
    if 'linear' in name: th['linearVariance']=1.2
    th['seVariance']=0.7; th['lengthscale']=1.1
    thc={k:np.asarray(v,complex) if not np.isscalar(v) else complex(v) for k,v in th.items()}
    exp=bound(c,thc,True)
    g={}
    h=1e-30
    for k,v in thc.items():
        if isinstance(v,complex):
            t=dict(thc); t[k]=v+1j*h; g[k]=float(bound(c,t).imag/h); continue
        out=np.zeros(v.shape)
        for idx in np.ndindex(*v.shape):
            t=dict(thc); w=v.copy(); w[idx]+=1j*h; t[k]=w; out[idx]=bound(c,t).imag/h
        g[k]=out.tolist()
    exp['gradient']=g
    c['parameters']={k:(v.tolist() if not np.isscalar(v) else v) for k,v in th.items()}
    c['expected']=exp
    cases.append(c)
# check of this program against a given reference
ref=json.load(open(here / 'bound.json'))
worst=0
for c in ref:
    name={'sum':'linear+se'}.get(c['kernel'],c['kernel']); cc=dict(c,kernel=name)
    th={k:np.asarray(v,complex) if not np.isscalar(v) else complex(v) for k,v in c['parameters'].items()}
    got=bound(cc,th,True)
    for k in ['bound','dataTerm','latentVariance','probability']:
        worst=max(worst,np.max(np.abs(np.array(got[k])-np.array(c['expected'][k]))))
    t=dict(th); w=th['mu'].copy(); w[0,0]+=1e-30j; t['mu']=w
    worst=max(worst,abs(bound(cc,t).imag/1e-30-c['expected']['gradient']['mu'][0][0]))
print('worst difference to bound.json:', worst)
json.dump(cases,open(here / 'matern.json', 'w'))
